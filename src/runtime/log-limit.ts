import type { Clock } from './clock.ts';

// Of one source a line in this time.
const PERIOD_MICROSECONDS = 60_000_000;
/** Sources told apart at a time, and of these those of one owner; all others of an owner share one line, and all others. */
export const KEPT_SOURCES = 1_000;
export const KEPT_OF_OWNER = 100;

export type LogLimit = ReturnType<typeof createLogLimit>;

interface Source {
  key: string;
  at: number;
  leftOut: number;
  owner: string | undefined;
}

/**
 * Keeps what anybody can cause from filling the log: one line a minute for each source (a device, an address). The
 * answer is undefined when nothing may be logged now, else how many lines of that source were left out since its last
 * one. Above KEPT_OF_OWNER within a minute the further ones of one owner (a developer) are one source, so one with many
 * devices takes no other's lines; above KEPT_SOURCES those of all are, so there are never more lines than that.
 */
export function createLogLimit({ clock }: { clock: Pick<Clock, 'now'> }) {
  // In the order of their last lines.
  const sources = new Map<string, Source>();
  const counts = new Map<string, number>();
  const others: Source = { key: '', at: Number.NEGATIVE_INFINITY, leftOut: 0, owner: undefined };

  function count(owner: string | undefined, by: 1 | -1): void {
    if (owner === undefined) return;
    const now = (counts.get(owner) ?? 0) + by;
    if (now > 0) counts.set(owner, now);
    else counts.delete(owner);
  }

  function forgetQuiet(now: number): void {
    for (const [key, { at, owner }] of sources) {
      if (now - at < PERIOD_MICROSECONDS) return;
      sources.delete(key);
      count(owner, -1);
    }
  }

  const isFull = (owner: string | undefined): boolean =>
    sources.size >= KEPT_SOURCES || (owner !== undefined && (counts.get(owner) ?? 0) >= KEPT_OF_OWNER);

  function sourceOf(key: string, owner: string | undefined, now: number): Source {
    const known = sources.get(key);
    if (known) return known;
    if (isFull(owner)) forgetQuiet(now);
    if (!isFull(owner)) {
      const made = { key, at: Number.NEGATIVE_INFINITY, leftOut: 0, owner };
      sources.set(key, made);
      count(owner, 1);
      return made;
    }
    return owner === undefined ? others : sourceOf(owner, undefined, now);
  }

  return (key: string, owner?: string): number | undefined => {
    const now = clock.now();
    const source = sourceOf(key, owner === undefined ? undefined : `others of ${owner}`, now);
    if (now - source.at < PERIOD_MICROSECONDS) {
      source.leftOut += 1;
      return undefined;
    }
    const { leftOut } = source;
    source.at = now;
    source.leftOut = 0;
    if (source !== others) {
      sources.delete(source.key);
      sources.set(source.key, source);
    }
    return leftOut;
  };
}
