import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Remembered } from '../runtime/remembered.ts';
import {
  countActivated,
  countDevices,
  countDueUpTo,
  countGroups,
  countPendingUpTo,
  countStepsUpTo,
  countUnfinishedUpTo,
  countVersions,
  type Waiting,
} from './figures-repository.ts';
import type { Step } from './service-figures.ts';
import { tensOf } from './tens.ts';

/**
 * The most rows that are read to count unfinished transactions exactly. With more, finished ones whose cancellation is
 * still on its way to the device are counted as well.
 */
const MOST_EXAMINED = 100_000;
const GROUPS = 50;

export type By = 'firmware' | 'battery' | 'version' | 'package' | 'developer' | 'application' | 'activation';

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
  remembered: Remembered;
  /** The number of connected devices, on all nodes. */
  connected(): number | Promise<number>;
  /** Counts the receivers whose last attempt failed, and those whose deliveries are late. */
  receivers(): Promise<{ failing: number; slow: number }>;
}

/** The numbers that summarize the fleet; times in microseconds. */
export interface Figures {
  at: number;
  devices: { total: number; activated: number; connected: number };
  transactions: { unfinished: number; oldestAt: number | null };
  deliveries: { pending: number; oldestDueAt: number | null };
  receivers: { failing: number; slow: number };
}

interface Breakdown {
  at: number;
  groups: { value: string | null; devices: number }[];
  /** Devices in groups that are not listed. A device with several packages counts once in the group of each package. */
  others: number;
}

export type FleetFigures = ReturnType<typeof createFleetFigures>;

/**
 * Counts over the whole fleet. The queries run on a thread of their own, and their results are kept for ten seconds.
 */
export function createFleetFigures({ database: { aside }, clock, remembered, connected, receivers }: Parts) {
  async function lookAtAll(): Promise<Figures> {
    const at = clock.now();
    const most = Number.MAX_SAFE_INTEGER - 1;
    const [total, activated, online, exact, pending, states] = await Promise.all([
      countDevices(aside),
      countActivated(aside),
      connected(),
      countUnfinishedUpTo(aside, MOST_EXAMINED),
      countPendingUpTo(aside, most),
      receivers(),
    ]);
    const unfinished = exact ?? ((await countDueUpTo(aside, most)) as Waiting);
    return {
      at,
      devices: { total, activated, connected: online },
      transactions: { unfinished: unfinished.count, oldestAt: unfinished.oldestAt },
      deliveries: { pending: pending?.count ?? 0, oldestDueAt: pending?.oldestAt ?? null },
      receivers: states,
    };
  }

  async function inTens(): Promise<{ value: string | null; devices: number }[]> {
    const tens = new Map<string, number>();
    for (const { value, devices } of await countGroups(aside, 'battery', 101)) {
      const range = tensOf(Number(value));
      tens.set(range, (tens.get(range) ?? 0) + devices);
    }
    return [...tens]
      .map(([value, devices]) => ({ value, devices }))
      .sort((a, b) => b.devices - a.devices || (a.value < b.value ? -1 : 1));
  }

  async function groupsOf(by: By, name: string | undefined): Promise<Breakdown> {
    const at = clock.now();
    const found =
      by === 'battery'
        ? await inTens()
        : by === 'version'
          ? await countVersions(aside, name ?? '', GROUPS)
          : await countGroups(aside, by, GROUPS);
    const [first] = found as { all?: number }[];
    const shown = found.reduce((sum, { devices }) => sum + devices, 0);
    const all = by === 'battery' ? shown : (first?.all ?? 0);
    const groups = found.map(({ value, devices }) => ({ value, devices }));
    // A device may be without a value of these properties. Such devices form a group of their own, with the value null.
    if (by === 'firmware' || by === 'battery' || by === 'application') {
      const without = (await countDevices(aside)) - all;
      if (without > 0) groups.push({ value: null, devices: without });
    }
    groups.sort((a, b) => b.devices - a.devices);
    const left = groups.splice(GROUPS).reduce((sum, { devices }) => sum + devices, 0);
    return { at, groups, others: all - shown + left };
  }

  return {
    /**
     * Counts what waits for each step: commands for their publish, their PUBACK and their result, webhooks for their
     * delivery. Null where more than MOST_EXAMINED wait, or may.
     */
    waiting: (): Promise<Record<Step, number | null>> =>
      remembered('waiting', async () => {
        const [steps, pending] = await Promise.all([
          countStepsUpTo(aside, MOST_EXAMINED),
          countPendingUpTo(aside, MOST_EXAMINED),
        ]);
        const { published = null, received = null, answered = null } = steps ?? {};
        return { published, received, answered, delivered: pending?.count ?? null };
      }),
    /** Summarizes the fleet. The numbers are kept for ten seconds, except the number of connected devices. */
    async summary(): Promise<Figures> {
      const { devices, ...figures } = await remembered('summary', lookAtAll);
      return { ...figures, devices: { ...devices, connected: await connected() } };
    },
    /** Counts devices by a property; `name` is the package when they are counted by its version. */
    breakdown: (by: By, name?: string): Promise<Breakdown> =>
      remembered(`${by} ${name ?? ''}`, () => groupsOf(by, name)),
  };
}
