import type { Entry } from './entry.ts';

/** Keeps one transaction of each kind, for each phase, group and operation, as an example for the figures. */
export interface Examples {
  failed(entry: Entry): void;
  delivered(entry: Entry): void;
  /** The example among those that `isMeant` accepts. */
  find(kind: 'failed' | 'slowest', isMeant: (entry: Entry) => boolean): Entry | undefined;
}

const waited = ({ deliveredAt, requestedAt }: Entry): number => (deliveredAt ?? requestedAt) - requestedAt;

/** `groupOf` says the group of a device. */
export function createExamples(groupOf: (deviceId: string) => string | undefined): Examples {
  const first = new Map<string, Entry>();
  const slowest = new Map<string, Entry>();
  const keyOf = ({ phase, deviceId, operation }: Entry): string => `${phase} ${groupOf(deviceId)} ${operation}`;
  return {
    failed(entry) {
      const key = keyOf(entry);
      if (entry.phase !== null && !first.has(key)) first.set(key, entry);
    },
    delivered(entry) {
      if (entry.phase === null) return;
      const key = keyOf(entry);
      const before = slowest.get(key);
      if (!before || waited(entry) > waited(before)) slowest.set(key, entry);
    },
    find(kind, isMeant) {
      const entries = [...(kind === 'failed' ? first : slowest).values()].filter(isMeant);
      if (kind === 'failed') return entries[0];
      return entries.toSorted((one, other) => waited(other) - waited(one))[0];
    },
  };
}
