import { addFigures } from '../customer/counts.ts';
import {
  type Chapter,
  type Latencies,
  type Own,
  type RunRecord,
  type Sample,
  type Verdict,
  WHOLE_RUN,
} from '../report/record.ts';
import { UsageError } from '../usage-error.ts';
import { judge, readExpectation } from './expectation.ts';
import { outcomeOf } from './outcome.ts';

const TROUBLES_KEPT = 20;

const sum = (numbers: readonly number[]): number => numbers.reduce((one, other) => one + other, 0);

/**
 * Counts about the service, which all processes see: the highest is the right one. In `memoryPerConnection` each process has
 * estimated the connections of all.
 */
const OF_SERVICE = [
  'stalled',
  'halted',
  'watched',
  'memory',
  'memoryKept',
  'memoryPerConnection',
  'recovery',
  'crashes',
];

/** Adds up counts by name. Bytes for each device are a mean, not a sum. */
function addCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const names = new Set(all.flatMap((counts) => Object.keys(counts)));
  const added = Object.fromEntries(
    [...names].map((name) => {
      const found = all.map((counts) => counts[name] ?? 0);
      return [name, OF_SERVICE.includes(name) ? Math.max(...found) : sum(found)];
    }),
  );
  const weighed = all.filter(({ memoryPerDevice }) => memoryPerDevice !== undefined);
  if (weighed.length > 0) {
    const bytes = sum(weighed.map(({ memoryPerDevice = 0, devices = 0 }) => memoryPerDevice * devices));
    added['memoryPerDevice'] = bytes / Math.max(1, sum(weighed.map(({ devices = 0 }) => devices)));
  }
  return added;
}

/**
 * Merges one phase of all processes. A round of the phase lasts from the beginning in the first process to the end in
 * the last one.
 */
function mergeChapter(name: string, shards: readonly { record: RunRecord; offset: number }[]): Chapter {
  const some = shards.flatMap(({ record, offset }) =>
    record.chapters.filter((chapter) => chapter.name === name).map((chapter) => ({ chapter, offset })),
  );
  const rounds = Math.max(...some.map(({ chapter }) => chapter.spans.length));
  const spans = Array.from({ length: rounds }, (_, round) => {
    const those = some.flatMap(({ chapter, offset }) => {
      const span = chapter.spans[round];
      return span ? [{ from: span.from + offset, to: span.to + offset }] : [];
    });
    return { from: Math.min(...those.map(({ from }) => from)), to: Math.max(...those.map(({ to }) => to)) };
  });
  const figures = some.flatMap(({ chapter }) => (chapter.figures ? [chapter.figures] : []));
  const named = new Set(some.flatMap(({ chapter }) => Object.keys(chapter.scopes ?? {})));
  const scopes = [...named].map((scope) => [
    scope,
    addFigures(some.flatMap(({ chapter }) => chapter.scopes?.[scope] ?? [])),
  ]);
  return {
    name,
    spans,
    ...(named.size > 0 && { scopes: Object.fromEntries(scopes) }),
    figures: figures.length === 0 ? null : addFigures(figures),
    fleet: addCounts(some.map(({ chapter }) => chapter.fleet)),
  };
}

/**
 * The highest of the percentiles of all processes, because the percentile of all values together cannot be computed
 * from them.
 */
function worst(all: readonly (Latencies | null | undefined)[]): Latencies | null {
  const there = all.filter((one) => one !== null && one !== undefined);
  if (there.length === 0) return null;
  return { p50: Math.max(...there.map(({ p50 }) => p50)), p99: Math.max(...there.map(({ p99 }) => p99)) };
}

/** Adds up the samples of all processes, at the times of the first process's samples. */
function mergeSamples(shards: readonly { record: RunRecord; offset: number }[]): Sample[] {
  const places = shards.map(() => -1);
  const [first] = shards;
  return (first?.record.samples ?? []).map(({ at: own }) => {
    const at = own + first!.offset;
    const before = [...places];
    shards.forEach(({ record: { samples }, offset }, index) => {
      while ((samples[places[index]! + 1]?.at ?? Number.POSITIVE_INFINITY) + offset <= at) places[index]! += 1;
    });
    const last = shards.flatMap(({ record }, index) => record.samples[places[index]!] ?? []);
    const since = shards.flatMap(({ record }, index) => record.samples.slice(before[index]! + 1, places[index]! + 1));
    const total = (of: (sample: Sample) => number): number => sum(last.map(of));
    return {
      at,
      connected: total(({ connected }) => connected),
      accepted: total(({ accepted }) => accepted),
      settled: total(({ settled }) => settled),
      unfinished: total(({ unfinished }) => unfinished),
      errors: total(({ errors }) => errors),
      delivered: worst(since.map(({ delivered }) => delivered)),
      loopDelay: Math.max(0, ...since.map(({ loopDelay }) => loopDelay)),
      processor: total(({ processor }) => processor),
      behind: Math.max(0, ...since.map(({ behind }) => behind)),
      settledAfter: worst(since.map(({ settledAfter }) => settledAfter)),
    };
  });
}

/**
 * Judges an expectation again over all processes together, because it may hold for each process alone and not for all
 * together, or for all and not for each.
 */
function mergeVerdict(
  { text, phase }: Verdict,
  chapters: readonly Chapter[],
  verdicts: readonly Verdict[],
): Verdict | undefined {
  const expectation = readExpectation(text, phase);
  const chapter = chapters.find(({ name }) => name === (phase ?? WHOLE_RUN));
  if (typeof expectation === 'string' || !chapter) return undefined;
  const verdict = judge(expectation, chapter, chapters[0]);
  const same = verdicts.filter((one) => one.text === text && one.phase === phase && one.story.length > 0);
  return { text, phase, ...verdict, story: verdict.holds || !verdict.measurable ? [] : (same[0]?.story ?? []) };
}

/** Throws a UsageError with the reason if the records are not those of all shards of one run. */
function checkShards(records: readonly RunRecord[]): void {
  const wrong = (text: string): never => {
    throw new UsageError('merge', text);
  };
  const [first] = records;
  if (!first) throw new UsageError('merge', 'needs at least one report');
  for (const { run, scenario, seed } of records) {
    if (run !== first.run || scenario !== first.scenario || seed !== first.seed)
      wrong(`run ${run} (${scenario}, seed ${seed}) is not run ${first.run} (${first.scenario}, seed ${first.seed})`);
  }
  const of = first.shard?.of ?? 1;
  if (records.some(({ shard }) => (shard?.of ?? 1) !== of))
    wrong('the reports come from runs with different numbers of shards');
  for (let index = 1; index <= of; index += 1) {
    const those = records.filter(({ shard }) => (shard?.index ?? 1) === index);
    if (those.length !== 1) wrong(`shard ${index} of ${of} is ${those.length === 0 ? 'missing' : 'given twice'}`);
  }
}

/** Merges the records of the processes that shared a run. Throws a UsageError if they did not, or if one is missing. */
export function mergeRecords(records: readonly RunRecord[]): RunRecord {
  checkShards(records);
  const ordered = records.toSorted((one, other) => (one.shard?.index ?? 1) - (other.shard?.index ?? 1));
  const began = Math.min(...ordered.map(({ startedAt }) => Date.parse(startedAt)));
  const shards = ordered.map((record) => ({ record, offset: Date.parse(record.startedAt) - began }));
  const [first] = ordered;
  const names = new Set(ordered.flatMap(({ chapters }) => chapters.map(({ name }) => name)));
  const chapters = [...names].map((name) => mergeChapter(name, shards));
  const verdicts = ordered.flatMap((record) => record.verdicts);
  const merged = (some: readonly Verdict[]): Verdict[] =>
    some.flatMap((verdict) => mergeVerdict(verdict, chapters, verdicts) ?? []);
  const most = (of: keyof Own): number => Math.max(...ordered.map(({ own }) => own[of]));
  const troubles = ordered.flatMap((record) => record.troubles);
  const notShown = sum(ordered.map(({ troublesNotShown }) => troublesNotShown));
  const memory = (of: 'before' | 'connected' | 'end'): number => sum(ordered.map((record) => record.memory[of]));
  return {
    ...first!,
    startedAt: new Date(began).toISOString(),
    milliseconds: Math.max(...shards.map(({ record, offset }) => record.milliseconds + offset)),
    shard: null,
    chapters,
    samples: mergeSamples(shards),
    faults: addCounts(ordered.map(({ faults }) => faults)),
    ...(ordered.some(({ looks }) => looks) && { looks: addCounts(ordered.map(({ looks = {} }) => looks)) }),
    rollouts: ordered.flatMap(({ rollouts = [] }) => rollouts),
    ...outcomeOf({
      verdicts: merged(first!.verdicts),
      requirements: merged(first!.requirements),
      interrupted: ordered.some(({ interrupted }) => interrupted),
    }),
    own: { standstill: most('standstill'), full: most('full'), loopDelay: most('loopDelay'), behind: most('behind') },
    memory: { before: memory('before'), connected: memory('connected'), end: memory('end') },
    troubles: troubles.slice(0, TROUBLES_KEPT),
    troublesNotShown: notShown + Math.max(0, troubles.length - TROUBLES_KEPT),
  };
}
