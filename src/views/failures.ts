import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import { createRemembered } from '../runtime/remembered.ts';
import type { Micros } from '../runtime/units.ts';
import { type Counted, countEnded, type Group } from './failures-repository.ts';

const HOUR_MICROS = 3_600_000_000;
/** The longest period, in microseconds: 31 days. */
const LONGEST = 31 * 24 * HOUR_MICROS;
const DAY = 24 * HOUR_MICROS;
/** The most versions, and the most error codes, that are listed. */
const MOST = 50;
/** The most answers that are kept at a time, each for ten seconds. */
const REMEMBERED = 100;

export interface FailureQuery {
  since?: Micros;
  until?: Micros;
  applicationId?: string;
  package?: string;
  version?: string;
}

export type FailureGroup = Group;

/** Installations that ended in a period, and in the period of the same length before it. */
export interface Failures {
  since: Micros;
  until: Micros;
  total: Omit<Group, 'value'>;
  /** By hour, the oldest first; hours without an end are left out. */
  hours: { at: Micros; finished: number; failed: number }[];
  /** By `package@version`, those with the most failures first. */
  versions: Group[];
  /** Failures by error code, the most frequent first. */
  errors: Group[];
}

export type FailureViews = ReturnType<typeof createFailureViews>;

/** Counts installations that failed. The queries run on a thread of their own, and answers are kept for ten seconds. */
export function createFailureViews({
  database: { aside },
  clock,
}: {
  database: Pick<Database, 'aside'>;
  clock: Clock;
}) {
  const remembered = createRemembered({ clock, most: REMEMBERED });

  async function look(since: Micros, until: Micros, filter: Omit<FailureQuery, 'since' | 'until'>): Promise<Failures> {
    const counted: Counted = { ...filter, before: since - (until - since), since, until };
    const hours = await countEnded(aside, 'hour', counted, 2 * (LONGEST / HOUR_MICROS) + 2);
    const versions = await countEnded(aside, 'version', counted, MOST);
    const errors = await countEnded(aside, 'errorCode', counted, MOST + 1);
    const total = { finished: 0, failed: 0, finishedBefore: 0, failedBefore: 0 };
    for (const name of ['finished', 'failed', 'finishedBefore', 'failedBefore'] as const)
      total[name] = hours.reduce((sum, group) => sum + group[name], 0);
    return {
      since,
      until,
      total,
      hours: hours
        .filter(({ finished }) => finished > 0)
        .map(({ value, finished, failed }) => ({ at: Number(value), finished, failed }))
        .sort((a, b) => a.at - b.at),
      versions,
      errors: errors.filter(({ value }) => value !== null).slice(0, MOST),
    };
  }

  return {
    /** Counts the installations of [since, until), by default those of the last day. At most 31 days are counted. */
    read({ since: asked, until: end, ...filter }: FailureQuery): Promise<Failures> {
      const until = end ?? clock.now();
      const since = Math.max(asked ?? until - DAY, until - LONGEST);
      const key = JSON.stringify([asked ?? null, end ?? null, filter]);
      return remembered(key, () => look(Math.min(since, until), until, filter));
    },
  };
}
