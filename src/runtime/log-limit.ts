import type { Clock } from './clock.ts';
import { createCounts } from './counts.ts';

// Microseconds in which a source (a device, an address) may cause one line of the log.
const PERIOD_MICROSECONDS = 60_000_000;
/**
 * The most sources that have lines of their own at a time, and the most of one owner (a developer). All further sources
 * of an owner share one line; so do all sources above KEPT_SOURCES.
 */
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
 * Limits log lines that strangers can cause, so that they cannot fill the log: one line a minute for each source (a
 * device, an address). The function returns undefined when the line must not be logged. Otherwise it returns how many
 * lines of the source were left out since its last line. An owner (a developer) with more than KEPT_OF_OWNER sources in
 * a minute gets one line for all further ones, so that its devices do not use up the lines of others. Above
 * KEPT_SOURCES sources in a minute, all further sources share one line, so the number of lines is bounded.
 */
export function createLogLimit({ clock }: { clock: Pick<Clock, 'now'> }) {
  // In the order of the times at which the sources had their last lines.
  const sources = new Map<string, Source>();
  const counts = createCounts();
  const others: Source = { key: '', at: Number.NEGATIVE_INFINITY, leftOut: 0, owner: undefined };

  function count(owner: string | undefined, by: 1 | -1): void {
    if (owner !== undefined) counts.add(owner, by);
  }

  function forgetQuiet(now: number): void {
    for (const [key, { at, owner }] of sources) {
      if (now - at < PERIOD_MICROSECONDS) return;
      sources.delete(key);
      count(owner, -1);
    }
  }

  const isFull = (owner: string | undefined): boolean =>
    sources.size >= KEPT_SOURCES || (owner !== undefined && counts.of(owner) >= KEPT_OF_OWNER);

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
