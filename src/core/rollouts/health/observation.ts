import { idsFrom } from '../../../runtime/ids.ts';
import type { Micros } from '../../../runtime/units.ts';
import type { HealthRule, Measure } from '../rollout.ts';
import type { WatchedDevice } from './watch-repository.ts';

const SECOND = 1_000_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The shortest time that counts as a usual absence, and the longest. */
export const USUAL_GAP = { least: 10 * MINUTE, most: 7 * 24 * HOUR } as const;
/** A device is silent after this many of its usual absences. */
const GAPS = 3;
/** What is counted is looked back at for so long, unless the rule says otherwise. */
export const LOOKS_BACK: Micros = 6 * HOUR;
/** Microseconds after its result in which a device may restart and connect again as it should. */
export const SETTLES: Micros = 5 * MINUTE;
/** A rate is known when a device was observed for so long. */
const OBSERVED: Micros = 15 * MINUTE;

/** The events of a device in a time that was looked back at. */
export interface Counted {
  reconnects: number;
  failedCommands: number;
  /** By type. */
  events: ReadonlyMap<string, number>;
}

/** What is known about a device at a moment. */
export interface Observed extends WatchedDevice {
  now: Micros;
  /** When it was last heard of; now while it is connected. */
  seenAt: Micros;
  /** Since when the service could hear devices without an interruption. */
  listensSince: Micros;
  counted(lookBack: Micros): Counted;
}

/** When the time begins in which connections are counted: after an interruption all devices connect again. */
export const connectionsFrom = (now: Micros, listensSince: Micros, lookBack: Micros): Micros =>
  Math.max(now - lookBack, listensSince + SETTLES);

const perHour = (count: number, micros: Micros): number => (count * HOUR) / micros;

type Of = (device: Observed, rule: Pick<HealthRule, 'within' | 'types'>) => number | undefined;

function rate(
  countOf: (counted: Counted, types: readonly string[] | undefined) => number,
  fromOf: (device: Observed, lookBack: Micros) => Micros = ({ now, since }, lookBack) =>
    Math.max(now - lookBack, since),
): Of {
  return (device, { within, types }) => {
    const lookBack = within === undefined ? LOOKS_BACK : within * SECOND;
    const micros = device.now - fromOf(device, lookBack);
    if (micros < Math.min(OBSERVED, lookBack)) return undefined;
    return perHour(countOf(device.counted(lookBack), types), micros);
  };
}

const EVENTS = rate(({ events }, types = []) => types.reduce((sum, type) => sum + (events.get(type) ?? 0), 0));

/** The measures: what a device shows, an hour where it is counted; undefined while it is not known. */
export const VALUE: Record<Measure, Of> = {
  silent({ now, since, seenAt, usualGap, listensSince }, { within }) {
    const limit = within === undefined ? GAPS * usualGap : within * SECOND;
    if (now - Math.max(since, listensSince) < limit) return undefined;
    return now - seenAt >= limit ? 1 : 0;
  },
  reconnects: rate(
    ({ reconnects }) => reconnects,
    ({ now, since, listensSince }, lookBack) => Math.max(connectionsFrom(now, listensSince, lookBack), since + SETTLES),
  ),
  failedCommands: rate(({ failedCommands }) => failedCommands),
  events: EVENTS,
  batteryDrop: ({ drained, drainedMicros }) => (drainedMicros < OBSERVED ? undefined : perHour(drained, drainedMicros)),
  storageFree({ freeFirst, freeFirstAt, freeLast, freeLastAt, seenAt }) {
    // A device that is heard of, and reports nothing new, still has what it reported last.
    const micros = Math.max(freeLastAt, seenAt) - freeFirstAt;
    if (freeFirst === null || freeLast === null || micros < OBSERVED) return undefined;
    return perHour(Math.max(0, freeFirst - freeLast), micros);
  },
};

/** The fact id of the connection log from which on facts are counted. */
export const factsFrom = (at: Micros): string => idsFrom('con', at);
