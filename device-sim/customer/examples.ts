import type { Entry } from './entry.ts';
import type { Stage } from './figures.ts';

/** Keeps one transaction of each kind, for each phase, group and action, as an example for the figures. */
export interface Examples {
  failed(entry: Entry): void;
  /** A transaction took so many milliseconds from its request to a stage. */
  took(stage: Stage, entry: Entry, milliseconds: number): void;
  /** The first transaction that failed, among those that `isMeant` accepts. */
  failure(isMeant: (entry: Entry) => boolean): Entry | undefined;
  /** The transaction that took the longest time to reach a stage, among those that `isMeant` accepts. */
  slowest(stage: Stage, isMeant: (entry: Entry) => boolean): Entry | undefined;
}

/** `groupOf` says the group of a device. */
export function createExamples(groupOf: (deviceId: string) => string | undefined): Examples {
  const first = new Map<string, Entry>();
  const slow = new Map<string, { stage: Stage; entry: Entry; milliseconds: number }>();
  const keyOf = ({ phase, deviceId, operation }: Entry): string => `${phase} ${groupOf(deviceId)} ${operation}`;
  return {
    failed(entry) {
      const key = keyOf(entry);
      if (entry.phase !== null && !first.has(key)) first.set(key, entry);
    },
    took(stage, entry, milliseconds) {
      if (entry.phase === null) return;
      const key = `${stage} ${keyOf(entry)}`;
      const before = slow.get(key);
      if (!before || milliseconds > before.milliseconds) slow.set(key, { stage, entry, milliseconds });
    },
    failure: (isMeant) => [...first.values()].find(isMeant),
    slowest(wanted, isMeant) {
      const found = [...slow.values()].filter(({ stage, entry }) => stage === wanted && isMeant(entry));
      return found.toSorted((one, other) => other.milliseconds - one.milliseconds)[0]?.entry;
    },
  };
}
