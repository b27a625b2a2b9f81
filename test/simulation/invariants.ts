import type { DatabaseEyes } from './database-eyes.ts';
import { ALWAYS, AT_THE_END, type Invariant } from './promised-rows.ts';
import { BEGIN } from './time.ts';

/** Hides the commands that have not changed since `:since` from the statement behind it. */
const CHANGED = 'WITH transactions AS (SELECT * FROM main.transactions WHERE updated_at >= :since)';

/** Some invariants, and one statement that says which of them are broken: each statement takes longer than its rows. */
function allOf(invariants: Readonly<Record<string, Invariant>>, isMeant: (invariant: Invariant) => boolean, head = '') {
  const judged = Object.entries(invariants).filter(([, one]) => isMeant(one));
  const asked = judged.map(([, { rows }], place) => `EXISTS (${rows}) AS i${place}`);
  return { judged, head, text: `${head} SELECT ${asked.join(', ')}` };
}

/** Milliseconds for which a finished command is kept (LAPEL_RETENTION_DAYS). */
const KEPT = 90 * 86_400_000;

/** A command as it was seen before. */
interface Seen {
  /** The attempts of a command that a pause holds back, and the entry of that pause; null: nothing holds it back. */
  readonly held: string | null;
  readonly attempts: number;
  readonly of: string;
  readonly ended: string | null;
  /** Microseconds since 1970. */
  readonly completedAt: number | null;
}

/** The most commands of a device without a PUBACK or an answer. */
const ROOM = 16;
/** Milliseconds; each term of a world is longer. */
const SHORTER_THAN_TERMS = 50_000;
const BY_TERM = /EXPIRED|NO_ANSWER/;

interface Options {
  isTimeRight: boolean;
  /** Whether the clock leaps by more than is believed, and only ahead. */
  isFarAhead?: boolean;
  inFlight?: number | undefined;
}

/** Looks at the database of a world again and again, and notes what breaks a promise. */
export function createInvariants(
  eyes: DatabaseEyes,
  { isTimeRight, isFarAhead = false, inFlight: room = ROOM }: Options,
) {
  const isJudged = ({ isTimeless }: Invariant): boolean => isTimeless !== false || isTimeRight;
  /** When each command was seen first, in milliseconds of the world. */
  const firstSeen = new Map<number, number>();
  const broken = new Map<string, string>();
  /** How often an open database was looked at. */
  let looks = 0;
  /** When the last backup has taken the place of the data, in microseconds. */
  let restoredAt = 0;
  let seen = new Map<number, Seen>();
  /** The command of each number, whatever became of it: a number is never given again. */
  const given = new Map<number, string>();

  function note(name: string, at: number, row: object): void {
    if (!broken.has(name)) broken.set(name, `${name}, after ${(at / 1000).toFixed(3)} s: ${JSON.stringify(row)}`);
  }

  /**
   * Compares the commands that have changed since a time with those of the looks before: a number stays that of one
   * command, and a result stays. Without a time it compares all, and misses those that were removed.
   */
  function remember(at: number, since?: number): void {
    const rows = eyes.rows(
      `SELECT transaction_id AS id, device_id || ' ' || operation || ' ' || created_at AS "of",
         CASE WHEN completed_at IS NULL THEN NULL ELSE status || COALESCE(error_code, '') || completed_at END AS ended,
         completed_at AS "completedAt", attempts,
         CASE WHEN completed_at IS NULL AND delivered_at IS NULL THEN
           (SELECT rollout_id || ' ' || entries FROM rollouts r WHERE r.rollout_id = t.rollout_id AND publishes = 0) END AS held
       FROM transactions t${since === undefined ? '' : ' WHERE updated_at >= :since'}`,
      since === undefined ? {} : { since },
    );
    const now = new Map<number, Seen>(since === undefined ? [] : seen);
    for (const row of rows) {
      const [id, one] = [
        Number(row['id']),
        {
          of: String(row['of']),
          ended: row['ended'] as string | null,
          completedAt: row['completedAt'] as number | null,
          held: row['held'] as string | null,
          attempts: Number(row['attempts']),
        },
      ];
      now.set(id, one);
      if (isFarAhead) {
        const first = firstSeen.get(id) ?? at;
        firstSeen.set(id, first);
        if (one.ended !== null && BY_TERM.test(one.ended) && at < first + SHORTER_THAN_TERMS)
          note('no leap of the clock ends a command', at, { id, since: first, ...one });
      }
      const of = given.get(id) ?? one.of;
      given.set(id, of);
      if (of !== one.of) note('no number twice', at, { id, before: of, now: one.of });
      const before = seen.get(id);
      if (!before || before.of !== one.of) continue;
      if (before.ended !== null && before.ended !== one.ended) note('a result stays', at, { id, ...before, now: one });
      else if (before.held !== null && before.held === one.held && before.attempts < one.attempts)
        note('nothing again in a pause', at, { id, ...before, now: one });
    }
    const young = (BEGIN + at - KEPT) * 1000;
    for (const [id, before] of seen)
      if (before.completedAt !== null && (!isTimeRight || before.completedAt > young) && !now.has(id))
        note('only the old is removed', at, { id, ...before });
    seen = now;
  }

  const always = allOf(ALWAYS, (one) => isJudged(one));
  const ofCommands = allOf(ALWAYS, (one) => isJudged(one) && one.isOfCommands === true, CHANGED);
  const atTheEnd = allOf(AT_THE_END, (one) => isJudged(one));

  /** Looks at all invariants with one statement, and then at those that are broken, each by itself. */
  function look({ judged, text, head }: ReturnType<typeof allOf>, at: number, since = 0): void {
    const values = { now: (BEGIN + at) * 1000, room, since, restoredAt };
    const [found = {}] = eyes.rows(text, values);
    for (const [place, [name, { rows }]] of judged.entries()) {
      if (found[`i${place}`] !== 1) continue;
      const [row] = eyes.rows(`${head} ${rows}`, values);
      if (row) note(name, at, row);
    }
  }

  /** After a kill, commits that were not on the disk have not taken place; after a restore, those since the backup. */
  function forget(): void {
    seen = new Map();
  }

  return {
    note,
    broken: (): string[] => [...broken.values()],
    looks: () => looks,
    forget,
    restored(at: number): void {
      forget();
      restoredAt = (BEGIN + at) * 1000;
    },
    look(at: number): void {
      if (!eyes.isOpen) return;
      looks += 1;
      look(always, at);
      remember(at);
    },
    /** Looks at the commands that have changed since a moment of the world. */
    lookAtChanges(at: number, since: number): void {
      if (!eyes.isOpen) return;
      const from = (BEGIN + since) * 1000;
      look(ofCommands, at, from);
      remember(at, from);
    },
    /** Whether everything has come to its end. */
    isOver: (): boolean => Object.values(AT_THE_END).every(({ rows }) => eyes.rows(rows).length === 0),
    lookAtTheEnd: (at: number): void => look(atTheEnd, at),
  };
}
