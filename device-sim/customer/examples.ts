import type { Entry } from './entry.ts';

/** Keeps one transaction of each kind for each phase, as an example for the figures. */
export interface Examples {
  failed(entry: Entry): void;
  delivered(entry: Entry): void;
  find(kind: 'failed' | 'slowest', phase: string | undefined): Entry | undefined;
}

const waited = ({ deliveredAt, requestedAt }: Entry): number => (deliveredAt ?? requestedAt) - requestedAt;

export function createExamples(): Examples {
  const first = new Map<string, Entry>();
  const slowest = new Map<string, Entry>();
  return {
    failed(entry) {
      if (entry.phase !== null && !first.has(entry.phase)) first.set(entry.phase, entry);
    },
    delivered(entry) {
      if (entry.phase === null) return;
      const before = slowest.get(entry.phase);
      if (!before || waited(entry) > waited(before)) slowest.set(entry.phase, entry);
    },
    find(kind, phase) {
      const all = kind === 'failed' ? first : slowest;
      if (phase !== undefined) return all.get(phase);
      const entries = [...all.values()];
      if (kind === 'failed') return entries[0];
      return entries.toSorted((one, other) => waited(other) - waited(one))[0];
    },
  };
}
