import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Micros, Millis } from './units.ts';

/** A leap of the clock by more than this is not believed: it would end whatever has a time. */
const BELIEVED_MICROS = 24 * 3_600 * 1_000_000;
/** Milliseconds between two looks at the witness while the clock is not believed. */
const LOOK_MS = 10_000;
/**
 * Milliseconds from the start until a time that lies ahead is believed to be that of an earlier clock that was ahead. A clock
 * that is behind at a start is put right before that: no row waits for it then.
 */
export const SETTLED_MS = 5 * 60_000;
/** Milliseconds between two looks at a witness with a clock of its own. */
const COMPARE_MS = 60_000;
/** Microseconds by which two clocks may differ, such as those of two nodes. */
export const APART_MICROS: Micros = 30 * 1_000_000;

/** Somebody else who knows the time. */
export interface TimeWitness {
  /** Whether it has a clock that runs, so that a difference from it shows which time is wrong. */
  hasClock: boolean;
  /** The latest time that it knows; null when it knows none. */
  seen(): Promise<Micros | null>;
  /** Remembers that the service has lived until a time. */
  note(at: Micros): Promise<void>;
}

interface Parts {
  clock: Clock;
  log: Log;
  witness: TimeWitness;
  /** Called when the clock is no longer believed, or is again. */
  told(isHeld: boolean): void;
  /** Called with the microseconds by which the clock is ahead of a witness with a clock; negative when it is behind. */
  compared(ahead: Micros): void;
}

export type ClockTrust = ReturnType<typeof createClockTrust>;

const daysOf = (micros: Micros): string => {
  const days = Math.round(micros / BELIEVED_MICROS);
  return `${days} ${days === 1 ? 'day' : 'days'}`;
};

const apartWords = (by: Micros): string =>
  `the clock is ${Math.round(Math.abs(by) / 1_000_000)} seconds ${by > 0 ? 'ahead of' : 'behind'} that of the database: set it`;

/**
 * Decides whether the clock is believed by all that removes or ends something because of its age. The time may be later
 * than the latest time that was seen, plus the time that a steady clock has measured since, by a day at most. If it is not
 * believed, nothing is removed and nothing expires, until the witness knows the time, or a person confirms it.
 */
export function createClockTrust({ clock, log, witness, told, compared }: Parts) {
  /** A time that was believed, and the reading of the steady clock at that time. */
  let anchor: { at: Micros; steady: Millis } | undefined;
  let ahead: Micros = 0;
  let seenAt: Micros = 0;
  let isHeld = false;
  let toldPutBack = false;
  let cancel = (): void => undefined;
  let cancelCompare = (): void => undefined;
  /** By how much the clock is ahead of the witness's clock, if that is more than both may differ. */
  let apart: Micros | undefined;
  let looking: Promise<void> = Promise.resolve();
  const waiting = new Set<() => void>();
  const begunAt = clock.steady();

  /**
   * By how much this clock, which never goes back, is ahead of the machine's, if that is why it is not believed: after a
   * leap that was put right, all times of this process are wrong until it starts again.
   */
  function aheadOfMachine(): Micros | undefined {
    const by = clock.now() - clock.wall();
    return held() && by > BELIEVED_MICROS ? by : undefined;
  }

  function believe(): void {
    anchor = { at: clock.now(), steady: clock.steady() };
    if (!isHeld) return;
    isHeld = false;
    told(false);
    log.info('the time is confirmed: what is too old is removed, and what is due expires again');
    for (const task of waiting) task();
    waiting.clear();
  }

  function hold(by: Micros): void {
    ahead = by;
    if (isHeld) return;
    isHeld = true;
    told(true);
    log.error(
      { aheadSeconds: Math.round(by / 1_000_000) },
      'the clock has leapt forward by more than a day, or the service has not run for so long: nothing expires and nothing is removed before the time is confirmed (lapel clock confirm)',
    );
    lookLater();
  }

  async function look(): Promise<void> {
    const seen = await witness.seen();
    seenAt = Math.max(seenAt, seen ?? 0);
    const by = seen === null ? 0 : clock.now() - seen;
    if (by <= BELIEVED_MICROS) {
      believe();
      return;
    }
    // Rows that are stored from now on have the wrong time, so a witness that looks at rows must remember this one.
    if (!isHeld && seen !== null) await witness.note(seen);
    hold(by);
  }

  function tellPutBack(): void {
    const by = aheadOfMachine();
    if (by === undefined || toldPutBack) return;
    toldPutBack = true;
    log.error(
      { aheadSeconds: Math.round(by / 1_000_000) },
      'the clock of the machine was put back; the times of the service are wrong until it is restarted',
    );
  }

  function lookLater(): void {
    cancel();
    cancel = clock.after(LOOK_MS, () => {
      looking = look()
        .catch((err: unknown) => log.warn({ err }, 'the time could not be compared; trying again'))
        .then(() => {
          if (isHeld) lookLater();
          tellPutBack();
        });
    });
  }

  /** Compares both clocks: the leases, the ends of commands and the signatures of several nodes depend on them. */
  async function compare(): Promise<void> {
    const before = clock.now();
    const seen = await witness.seen();
    if (seen === null) return;
    const by = Math.round((before + clock.now()) / 2) - seen; // the witness may be far away
    compared(by);
    const was = apart;
    apart = Math.abs(by) > APART_MICROS ? by : undefined;
    if (apart !== undefined && was === undefined)
      log.error({ aheadSeconds: Math.round(by / 1_000_000) }, apartWords(by));
  }

  function compareLater(): void {
    cancelCompare = clock.after(COMPARE_MS, () => {
      // A database that does not answer tells of itself.
      looking = compare().then(compareLater, compareLater);
    });
  }

  const isBehind = (): boolean => apart !== undefined && apart < 0;

  const steadyTime = ({ at, steady }: { at: Micros; steady: Millis }): Micros => at + (clock.steady() - steady) * 1000;

  /** Remembers a time that is believed: after a leap, rows have times that nobody may take for those of a right clock. */
  async function note(): Promise<void> {
    // A clock that is behind is no proof of an earlier time: what was seen stays seen.
    if (!held()) await witness.note(Math.max(clock.now(), seenAt));
    else if (anchor) await witness.note(Math.round(steadyTime(anchor)));
  }

  function held(): boolean {
    if (isHeld || !anchor) return isHeld;
    const leap = clock.now() - steadyTime(anchor);
    if (leap > BELIEVED_MICROS) hold(leap);
    else believe(); // the pauses of a machine that sleeps each night must not add up
    return isHeld;
  }

  return {
    /**
     * Compares the clock with the witness, before anything can expire, and lets the witness remember the time: one that
     * looks at rows would take those of a later leap for a proof of it.
     */
    async start(): Promise<void> {
      await look();
      await note().catch((err: unknown) => log.warn({ err }, 'the present time could not be stored'));
      if (!witness.hasClock) return;
      await compare().catch(() => undefined); // a database that does not answer tells of itself
      compareLater();
    },

    /** The latest time that is known: the clock may be behind what was seen. */
    latest: (): Micros => Math.max(clock.now(), seenAt),

    /** Whether a witness with a clock says that this clock is behind. */
    isBehind,

    /** Whether a time that lies ahead is that of an earlier clock, and not one that this clock has not reached yet. */
    isSettled: (): boolean => clock.steady() - begunAt >= SETTLED_MS && !isBehind(),

    /** Whether nothing may be removed or ended because of its age. */
    isHeld: held,

    /** Calls the task once when the time is confirmed, however often it was given. */
    whenBelieved: (task: () => void): unknown => waiting.add(task),

    note,

    /** The reason why the clock is surely wrong; undefined when it may be right. */
    trouble(): string | undefined {
      const by = aheadOfMachine();
      if (by !== undefined) return `is ${daysOf(by)} ahead of the machine's, which was put back; restart the service`;
      if (!held() || !witness.hasClock) return undefined;
      return `is ${daysOf(ahead)} ahead of the database's clock; set it, and restart`;
    },

    /** The reason why nothing expires, while it is not known whether the clock is wrong; or that it is a little wrong. */
    doubt(): string | undefined {
      if (!held()) return apart === undefined ? undefined : apartWords(apart);
      return witness.hasClock || aheadOfMachine() !== undefined
        ? undefined
        : `is ${daysOf(ahead)} ahead of the latest time that was seen; until lapel clock confirm nothing expires and nothing is removed`;
    },

    idle: async (): Promise<void> => looking,

    async [Symbol.asyncDispose](): Promise<void> {
      cancel();
      cancelCompare();
      await looking;
      cancelCompare(); // a comparison that was running has armed the next one
      await note().catch(() => undefined);
    },
  };
}
