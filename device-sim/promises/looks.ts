import { CHECKS, type CheckName } from './checks.ts';

/** Tells that a check has looked, some times; by default once. */
export type Look = (check: CheckName, times?: number) => void;

/** Counts how often each check has looked in a run. */
export interface Looks {
  readonly look: Look;
  /** How often each check has looked: 0 for those that never did. */
  counts(): Record<CheckName, number>;
}

const NAMES = Object.keys(CHECKS) as CheckName[];

export function createLooks(): Looks {
  const counts = new Map<CheckName, number>();
  return {
    look(check, times = 1) {
      counts.set(check, (counts.get(check) ?? 0) + times);
    },
    counts: () => Object.fromEntries(NAMES.map((name) => [name, counts.get(name) ?? 0])) as Record<CheckName, number>,
  };
}
