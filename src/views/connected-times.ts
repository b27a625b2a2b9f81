import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Micros } from '../runtime/units.ts';
import { listConnections, registeredBefore } from './samples-repository.ts';

const DAY_MICROS = 86_400_000_000;

/** Times in which a device was connected, in order, and without overlaps. */
export type Spans = readonly (readonly [from: Micros, until: Micros])[];

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Pick<Clock, 'now'>;
  /** Returns those of the devices that are connected to any node. */
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  /** Days for which connections are kept; 0: for ever. */
  keptDays: number;
}

/** The microseconds of [from, until) in which a device was connected. */
export const connectedWithin = (spans: Spans, from: Micros, until: Micros): number =>
  spans.reduce((sum, [begin, end]) => sum + Math.max(0, Math.min(end, until) - Math.max(begin, from)), 0);

function joined(spans: (readonly [Micros, Micros])[]): Spans {
  const all: [Micros, Micros][] = [];
  for (const [from, until] of spans.sort((a, b) => a[0] - b[0])) {
    const last = all.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], until);
    else all.push([from, until]);
  }
  return all;
}

/** Finds out when devices were connected, from the log of their connections. */
export function createConnectedTimes({ database: { aside }, clock, connected, keptDays }: Parts) {
  /** Those of the devices without an entry in the log that are connected: their connections are older than the log. */
  async function olderThanLog(deviceIds: readonly string[]): Promise<string[]> {
    if (keptDays === 0) return [];
    // The entry of a connection is written within seconds. A younger device has one.
    const old = await registeredBefore(aside, deviceIds, clock.now() - keptDays * DAY_MICROS);
    const isConnected = await connected(old);
    return old.filter((deviceId) => isConnected.has(deviceId));
  }

  return {
    /** The time since which connections are known, of a period that begins at `since`. */
    knownSince: (since: Micros): Micros =>
      keptDays === 0 ? since : Math.max(since, clock.now() - keptDays * DAY_MICROS),

    async of(deviceIds: readonly string[], since: Micros): Promise<Map<string, Spans>> {
      const now = clock.now();
      const spans = new Map<string, (readonly [Micros, Micros])[]>(deviceIds.map((deviceId) => [deviceId, []]));
      for (const { deviceId, from, until } of await listConnections(aside, deviceIds, since)) {
        spans.get(deviceId)?.push([Math.max(from, since), Math.min(until ?? now, now)]);
      }
      for (const deviceId of await olderThanLog(deviceIds.filter((deviceId) => spans.get(deviceId)?.length === 0)))
        spans.get(deviceId)?.push([since, now]);
      return new Map([...spans].map(([deviceId, own]) => [deviceId, joined(own)]));
    },
  };
}

export type ConnectedTimes = ReturnType<typeof createConnectedTimes>;
