import type { Ledger, Trouble } from '../customer/ledger.ts';
import type { Device } from '../model/device.ts';
import { type Chapter, type Verdict, WHOLE_RUN } from '../report/record.ts';
import { type Expectation, judge, readExpectation } from './expectation.ts';

/** The kind of trouble that each figure counts. */
const TROUBLES: Readonly<Record<string, Trouble['kind']>> = {
  lost: 'lost',
  eventsLost: 'lost',
  doubled: 'doubled',
  eventsDoubled: 'doubled',
  late: 'late',
  unordered: 'unordered',
  forged: 'forged',
  errors: 'error',
  reused: 'violation',
  violations: 'violation',
  wrong: 'wrong',
  repeated: 'repeated',
  hammering: 'hammering',
  window: 'window',
};

/** Figures of events, which have no transaction. */
const OF_EVENTS = new Set(['eventsLost', 'eventsDoubled']);

/** The sources that can explain why an expectation does not hold. */
export interface Witnesses {
  readonly ledger: Ledger | null;
  readonly devices: readonly Device[];
  /** Faults that devices and the run reported, in words. */
  readonly troubles: readonly string[];
}

/** A trouble as a text, with its device. */
export const inWords = ({ deviceId, text }: Trouble): string =>
  deviceId === '' ? text : `device ${deviceId}: ${text}`;

/** The shortest story of a case for which an expectation does not hold; empty if there is none. */
function storyOf({ figure, phase }: Expectation, { ledger, devices, troubles }: Witnesses): readonly string[] {
  if (figure.kind === 'latency') return ledger?.example('slowest', phase ?? undefined) ?? [];
  const { name } = figure;
  const kind = TROUBLES[name];
  const those = (ledger?.troubles() ?? []).filter(
    (one) => (phase === null || one.phase === phase) && (!OF_EVENTS.has(name) || one.transactionId === null),
  );
  // A content that came to another device than asked, or names another one, is a violation as well, and told as such.
  const trouble =
    those.find((one) => one.kind === kind) ??
    (name === 'wrong' ? those.find((one) => one.kind === 'violation') : undefined);
  if (trouble) return [inWords(trouble), ...trouble.story];
  if (name === 'violations' || name === 'complaints') {
    const words = name === 'violations' ? 'broke the contract' : 'reported a fault';
    return troubles.filter((text) => text.includes(words)).slice(0, 1);
  }
  if (name === 'connected' || name === 'activated') {
    const missing = devices.find(({ online, state }) => (name === 'connected' ? !online : !state.activation));
    if (!missing) return [];
    return [`device ${missing.deviceId} is not ${name}`, ...(ledger?.story({ deviceId: missing.deviceId }) ?? [])];
  }
  if (name === 'unfinished') return ledger?.example('unfinished', phase ?? undefined) ?? [];
  if (name === 'succeeded' || name === 'failed' || name === 'delivered') {
    const failed = ledger?.example('failed', phase ?? undefined) ?? [];
    return failed.length > 0 ? failed : (ledger?.example('unfinished', phase ?? undefined) ?? []);
  }
  return [];
}

const chapterOf = (chapters: readonly Chapter[], phase: string | null): Chapter =>
  chapters.find(({ name }) => name === (phase ?? WHOLE_RUN)) ?? {
    name: phase ?? WHOLE_RUN,
    spans: [],
    figures: null,
    fleet: {},
  };

/** The present verdict on each expectation. */
export const standing = (expectations: readonly Expectation[], chapters: readonly Chapter[]) =>
  expectations.map((expectation) => ({
    expectation,
    ...judge(expectation, chapterOf(chapters, expectation.phase), chapterOf(chapters, null)),
  }));

/** Expectations of every run: they hold for every service that keeps its promises, if the books are right. */
const ALWAYS = ['reused == 0', 'unaccounted == 0', 'wrong == 0', 'repeated == 0', 'hammering == 0', 'window == 0'];

export function withAlways(expectations: readonly Expectation[]): Expectation[] {
  const written = new Set(expectations.filter(({ phase }) => phase === null).map(({ text }) => text));
  const missing = ALWAYS.filter((text) => !written.has(text)).map((text) => readExpectation(text, null));
  return [...expectations, ...missing.filter((one) => typeof one !== 'string')];
}

/** The final verdict on each expectation, with a story if it does not hold. */
export const verdictsOf = (
  expectations: readonly Expectation[],
  chapters: readonly Chapter[],
  witnesses: Witnesses,
): Verdict[] =>
  standing(expectations, chapters).map(({ expectation, holds, measurable, value, shown }) => ({
    text: expectation.text,
    phase: expectation.phase,
    holds,
    measurable,
    value,
    shown,
    story: holds || !measurable ? [] : storyOf(expectation, witnesses),
  }));
