import { warmUp } from '../closed-loop.ts';
import { measureLoop, medianOf, type Options, type Sample } from '../measure.ts';
import type { Row, Table } from '../report.ts';
import { PEERS, type PeerName } from './peer-target.ts';
import { LAPEL, measuredTargets } from './targets.ts';

/** The seconds after which a warm-up ends even if it is not complete, because slow targets would take minutes. */
const WARM_SECONDS = 5;

/** A loop that never closes would let a measurement wait for ever; it ends with an error this time after its end. */
const PATIENCE_MS = 60_000;

async function inTime<Result>(name: string, seconds: number, work: Promise<Result>): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`${name}: a loop did not close`)), seconds * 1000 + PATIENCE_MS);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Medians of a target by the number of callers. */
type Medians = Map<number, Record<'rate' | 'cpu' | 'flushes' | 'p50', number>>;

/** Whether a peer has written a command through to the disk before its caller gets 201. */
const isDurable = (title: string): boolean => title !== PEERS['bullmq-everysec'].title;

/** Measures each target in turn. Each round begins with the next target, and no target runs while another is measured. */
async function measureAll(options: Options, peers: readonly PeerName[]): Promise<Map<string, Medians>> {
  const { seconds, rounds, devices, callers } = options;
  const starts = Object.entries(measuredTargets(peers));
  const samples = new Map<string, Sample[]>();
  const keyOf = (name: string, count: number): string => `${name} ${count}`;
  for (let round = 0; round < rounds; round += 1) {
    const first = round % starts.length;
    for (const [name, start] of [...starts.slice(first), ...starts.slice(0, first)]) {
      const target = await start({ devices });
      try {
        await inTime(name, WARM_SECONDS, warmUp(target, WARM_SECONDS));
        for (const count of callers) {
          const key = keyOf(name, count);
          samples.set(key, [
            ...(samples.get(key) ?? []),
            await inTime(name, seconds, measureLoop(target, count, seconds)),
          ]);
        }
      } finally {
        await target.close();
      }
    }
  }
  const mediansOf = (name: string): Medians =>
    new Map(
      callers.map((count) => {
        const all = samples.get(keyOf(name, count)) ?? [];
        return [
          count,
          {
            rate: medianOf(all, ({ rate }) => rate),
            cpu: medianOf(all, ({ cpu, databaseCpu }) => cpu + databaseCpu),
            flushes: medianOf(all, ({ flushes }) => flushes),
            p50: medianOf(all, ({ p50 }) => p50),
          },
        ];
      }),
    );
  return new Map(starts.map(([name]) => [name, mediansOf(name)]));
}

/** The figures of one target, a column for each number of callers. */
function rowOf(name: string, medians: Medians): Row {
  const row: Row = { what: name };
  const add = (
    title: string,
    text: (of: { rate: number; cpu: number; flushes: number; p50: number }) => number,
  ): void => {
    for (const [count, of] of medians) row[`${title}, ${count}`] = text(of);
  };
  add('loops/s', ({ rate }) => Math.round(rate));
  add('processor us/loop', ({ cpu }) => Math.round(cpu));
  add('disk flushes/loop', ({ flushes }) => Number(flushes.toFixed(2)));
  add('p50 ms', ({ p50 }) => Number(p50.toFixed(1)));
  return row;
}

/** Compares both kinds of Lapel with the peer that is best at each number of callers. */
function comparison(all: Map<string, Medians>, callers: readonly number[]): Row[] {
  const peers = [...all].filter(([name]) => Object.values(PEERS).some(({ title }) => title === name));
  const best = (count: number, isGood: (title: string) => boolean) =>
    peers
      .filter(([name]) => isGood(name))
      .map(([name, medians]) => ({ name, rate: medians.get(count)?.rate ?? 0 }))
      .toSorted((one, two) => two.rate - one.rate)[0];
  const times = (name: string, count: number, rate: number): string =>
    `${((all.get(name)?.get(count)?.rate ?? Number.NaN) / rate).toFixed(2)} times`;
  return callers.flatMap((count) =>
    [
      { kind: 'those that store before 201', isGood: isDurable },
      { kind: 'all', isGood: () => true },
    ].map(({ kind, isGood }) => {
      const peer = best(count, isGood);
      return {
        'callers, peers': `${count}, ${kind}`,
        'the fastest peer': peer?.name ?? '',
        'its loops/s': Math.round(peer?.rate ?? Number.NaN),
        [LAPEL.sqlite]: times(LAPEL.sqlite, count, peer?.rate ?? Number.NaN),
        [LAPEL.postgres]: times(LAPEL.postgres, count, peer?.rate ?? Number.NaN),
      };
    }),
  );
}

/** Measures the closed loop of the floor, of Lapel, and of peers. */
export async function runLoops(options: Options, peers: readonly PeerName[]): Promise<Table[]> {
  const all = await measureAll(options, peers);
  const { seconds, rounds, callers } = options;
  return [
    {
      name: 'Loops of peers',
      about: `Rounds: ${rounds}, of ${seconds} seconds each; the medians count. Callers: ${callers.join(', ')}. Processor time of all processes together: service, broker, store.`,
      rows: [...all].map(([name, medians]) => rowOf(name, medians)),
    },
    {
      name: 'Lapel and the fastest peer',
      about: 'Loops per second of Lapel, divided by those of the fastest peer. Below 1 the peer is faster.',
      rows: comparison(all, callers),
    },
  ];
}
