import type { Ledger, Trouble } from '../customer/ledger.ts';
import { tell } from '../customer/story.ts';
import type { Device } from '../model/device.ts';
import { type Chapter, type Verdict, WHOLE_RUN } from '../report/record.ts';
import { type Expectation, judge, readExpectation } from './expectation.ts';
import type { ServiceWatch } from './service-watch.ts';

/**
 * For each figure, the kind of the faults that it counts. A report explains a broken expectation by the first such
 * fault.
 */
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
  overshoot: 'overshoot',
  order: 'order',
  gaps: 'gap',
  customerLost: 'customer',
  customerAgain: 'customer',
};

/** Figures that count events of devices, not transactions. */
const OF_EVENTS = new Set(['eventsLost', 'eventsDoubled']);

/** The parts of a run that know why an expectation does not hold. */
export interface Witnesses {
  readonly ledger: Ledger | null;
  readonly devices: readonly Device[];
  /** Null if the run did not look at the service. */
  readonly service: Pick<ServiceWatch, 'notes'> | null;
  /** The start of the run, in the time of its timers. */
  readonly began: number;
  /** A sentence for each time that the service ended although nobody told it to. */
  readonly crashes?: readonly string[];
  /** Texts about breaches and faults that devices and the run have reported. */
  readonly troubles: readonly string[];
}

/** A fault as a text that begins with its device. */
export const inWords = ({ deviceId, text }: Trouble): string =>
  deviceId === '' ? text : `device ${deviceId}: ${text}`;

/** The events of one device, or of one transaction, that show why an expectation does not hold; empty if none do. */
function storyOf({ figure, phase, scope }: Expectation, witnesses: Witnesses): readonly string[] {
  const { ledger, devices, service, began, troubles } = witnesses;
  if (figure.kind === 'latency') return ledger?.example('slowest', phase ?? undefined, scope, figure.stage) ?? [];
  const { name } = figure;
  const kind = TROUBLES[name];
  const those = (ledger?.troubles() ?? []).filter(
    (one) =>
      (phase === null || one.phase === phase) &&
      (!OF_EVENTS.has(name) || one.transactionId === null) &&
      ledger?.isIn(one, scope),
  );
  // A message to or from another device than the one that was asked counts as `wrong` too, but its fault is stored as a
  // violation.
  const ofKind = those.filter((one) => one.kind === kind);
  const trouble =
    ofKind.find(({ deviceId }) => deviceId !== '') ??
    ofKind[0] ??
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
  if (name === 'crashes') return (witnesses.crashes ?? []).slice(0, 1);
  if (name === 'stalled' || name === 'halted' || name === 'memory' || name === 'memoryPerConnection')
    return tell(began, [], [], service?.notes(name));
  if (name === 'cancelled') {
    const cancelled = ledger?.example('cancelled', phase ?? undefined, scope) ?? [];
    // Too few were cancelled: the first one that ended otherwise shows it.
    return cancelled.length > 0 ? cancelled : (ledger?.example('slowest', phase ?? undefined, scope, 'settled') ?? []);
  }
  if (name === 'unfinished') return ledger?.example('unfinished', phase ?? undefined, scope) ?? [];
  if (name === 'succeeded' || name === 'failed' || name === 'delivered') {
    const failed = ledger?.example('failed', phase ?? undefined, scope) ?? [];
    return failed.length > 0 ? failed : (ledger?.example('unfinished', phase ?? undefined, scope) ?? []);
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

/** Judges each expectation with the figures until now. */
export const standing = (expectations: readonly Expectation[], chapters: readonly Chapter[]) =>
  expectations.map((expectation) => ({
    expectation,
    ...judge(expectation, chapterOf(chapters, expectation.phase), chapterOf(chapters, null)),
  }));

/** Expectations that are added to every run with a customer: a service that keeps its promises always meets them. */
const ALWAYS = ['reused == 0', 'unaccounted == 0', 'wrong == 0', 'repeated == 0', 'hammering == 0', 'window == 0'];

/**
 * An expectation that is added to runs in which the memory of the service can be read: it must not grow without end. A large fleet may take 100 kB for
 * each device, because the activation and the commands of each one leave their traces in a heap that is not yet tidied.
 */
const memoryBound = (devices: number): string => `memory < ${Math.max(512, Math.ceil(devices / 10))} MB`;

/** An expectation that is added to runs that look at the service: it must not stand still for a part of each second. */
export const HALTED = 'halted <= 10 %';
/** The same for the memory that connections leave behind. */
const KEPT = 'memoryPerConnection < 40 kB';

interface Known {
  readonly hasCustomer: boolean;
  /** The number of devices, if the memory of the service can be read. */
  readonly weighed: number | null;
  /** Whether the scenario has rollouts. */
  readonly rollsOut: boolean;
  /** Whether the customer has programs that take events. */
  readonly takesEvents: boolean;
  /** Whether the run has started the service, and sees it end. */
  readonly ownsService: boolean;
}

/** Adds the expectations of every run, as far as the run can know their figures. */
export function withAlways(
  expectations: readonly Expectation[],
  { hasCustomer, weighed, rollsOut, takesEvents, ownsService }: Known,
): Expectation[] {
  const written = new Set(expectations.filter(({ phase }) => phase === null).map(({ text }) => text));
  const always = [
    ...(hasCustomer ? ALWAYS : []),
    ...(hasCustomer ? [HALTED] : []),
    ...(hasCustomer && weighed !== null ? [memoryBound(weighed), KEPT] : []),
    ...(rollsOut ? ['overshoot == 0'] : []),
    ...(takesEvents ? ['order == 0', 'gaps == 0'] : []),
    ...(ownsService ? ['crashes == 0'] : []),
  ];
  const missing = always.filter((text) => !written.has(text)).map((text) => readExpectation(text, null));
  return [...expectations, ...missing.filter((one) => typeof one !== 'string')];
}

/** Judges each expectation at the end. If it does not hold, the events of a device that show why are added. */
export const verdictsOf = (
  expectations: readonly Expectation[],
  chapters: readonly Chapter[],
  witnesses: Witnesses,
): Verdict[] =>
  standing(expectations, chapters)
    // Nobody has asked for this one, so a simulator that is too slow to measure it leaves it out.
    .filter(({ expectation: { text, phase }, measurable }) => measurable || text !== HALTED || phase !== null)
    .map(({ expectation, holds, measurable, value, shown }) => ({
      text: expectation.text,
      phase: expectation.phase,
      holds,
      measurable,
      value,
      shown,
      story: holds || !measurable ? [] : storyOf(expectation, witnesses),
    }));
