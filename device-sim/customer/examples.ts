import type { Entry } from './entry.ts';
import type { Stage } from './figures.ts';

/** Keeps one transaction of each kind, for each phase, group and action, as an example for the figures. */
export interface Examples {
  /** A transaction has ended as failed or cancelled. */
  ended(how: 'failed' | 'cancelled', entry: Entry): void;
  /** A transaction took so many milliseconds from its request to a stage. */
  took(stage: Stage, entry: Entry, milliseconds: number): void;
  /** The first transaction that ended so, among those that `isMeant` accepts. */
  first(how: 'failed' | 'cancelled', isMeant: (entry: Entry) => boolean): Entry | undefined;
  /** The transaction that took the longest time to reach a stage, among those that `isMeant` accepts. */
  slowest(stage: Stage, isMeant: (entry: Entry) => boolean): Entry | undefined;
}

/** `groupOf` says the group of a device. */
export function createExamples(groupOf: (deviceId: string) => string | undefined): Examples {
  const firsts = { failed: new Map<string, Entry>(), cancelled: new Map<string, Entry>() };
  const slow = new Map<string, { stage: Stage; entry: Entry; milliseconds: number }>();
  const keyOf = ({ phase, deviceId, operation }: Entry): string => `${phase} ${groupOf(deviceId)} ${operation}`;
  return {
    ended(how, entry) {
      const key = keyOf(entry);
      if (entry.phase !== null && !firsts[how].has(key)) firsts[how].set(key, entry);
    },
    took(stage, entry, milliseconds) {
      if (entry.phase === null) return;
      const key = `${stage} ${keyOf(entry)}`;
      const before = slow.get(key);
      if (!before || milliseconds > before.milliseconds) slow.set(key, { stage, entry, milliseconds });
    },
    first: (how, isMeant) => [...firsts[how].values()].find(isMeant),
    slowest(wanted, isMeant) {
      const found = [...slow.values()].filter(({ stage, entry }) => stage === wanted && isMeant(entry));
      return found.toSorted((one, other) => other.milliseconds - one.milliseconds)[0]?.entry;
    },
  };
}
