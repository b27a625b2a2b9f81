import { createFairQueue } from '../../runtime/fair-queue.ts';
import { createIdle } from '../../runtime/idle.ts';
import type { BusyKeys } from './busy-keys.ts';
import type { Transact, UnitOfWork, UnitOptions } from './sql.ts';

/** The most units in one commit, so that a burst of units cannot delay the units behind it for long. */
export const UNITS_PER_COMMIT = 256;
/**
 * The most units in one commit while several developers write. The smaller commits end sooner: a command and its answer
 * are a few units one after another, and each of them waits for a commit.
 */
const SHARED_COMMIT = 64;
/** Milliseconds without a unit of another developer after which a developer counts as alone. */
const ALONE_AFTER_MS = 1_000;

// Before a commit, units are gathered for at most this many turns of the event loop. A turn takes some 50 microseconds,
// a commit several times that. The gathering ends sooner when as many units with waiting callers have come as the last
// commit had; so it takes one turn after a commit with one unit.
const TURNS = 4;

// Milliseconds that a unit without a waiting caller is kept, so that it can join the commit of other units. The time
// concerns the disk, so it is real time and not that of the injected clock.
const SOON_MS = 10;

// More units than this within this time are a burst.
const BURST_UNITS = 10;
const BURST_MS = 50;

/** A unit of work that waits for its commit. */
export interface Waiting {
  work: (unit: UnitOfWork) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (cause: unknown) => void;
  /** The device that the unit decides on, if its rows are all of one device; see Transact in sql.ts. */
  key: string | undefined;
  /** The device or batch that a unit without a key is about, or both: other units of these do not run beside it. */
  about?: readonly string[] | undefined;
  /** For whom the unit works; undefined: the developer of its device. */
  whose?: string | undefined;
  /** Whether a caller waits for the unit. */
  urgent: boolean;
}

/** Returns a function that counts units; it returns true during a burst, and for a moment after one. */
function createBurstDetector(): () => boolean {
  let began = 0;
  let count = 0;
  let before = 0;
  return () => {
    const age = performance.now() - began;
    if (age > BURST_MS) {
      before = age > 2 * BURST_MS ? 0 : count;
      began += age;
      count = 0;
    }
    count += 1;
    return Math.max(count, before) > BURST_UNITS;
  };
}

/** Tells whether units of several developers have come within the last second. */
function createDeveloperWatch() {
  let latest = '';
  let changedAt = Number.NEGATIVE_INFINITY;
  return {
    areSeveral: (): boolean => performance.now() - changedAt < ALONE_AFTER_MS,
    saw(owner: string): void {
      if (owner === '' || owner === latest) return;
      if (latest !== '') changedAt = performance.now();
      latest = owner;
    },
  };
}

export interface QueueOptions {
  /** The most units in one commit. */
  perCommit?: () => number;
  /**
   * The most units of one device in one commit. On a server each of them costs a round trip, so a device with many would
   * delay all others.
   */
  perKey?: number;
  /** Returns the developer of a device, if it is known. */
  ownerOf?: ((key: string) => string | undefined) | undefined;
  /** The most commits at the same time. */
  lanes?: number;
  /** Milliseconds between the beginnings of two commits at the same time; Infinity: one commit at a time. */
  apartMs?: () => number;
  /** The devices whose units run, shared with other queues of the database; needed with several lanes. */
  busy?: BusyKeys;
}

/** The key of units without one and without a caller: a queue never has them in two commits at the same time. */
const NO_KEY = '';

/**
 * Gathers units of work for group commits: units that arrive in the same turn of the event loop, or in the next few, wait
 * for its end (setImmediate), so that requests from many sockets share one commit. `commit` runs and settles them, never
 * rejects, and returns the units that must run in the next commit. When more units wait than one commit takes, developers
 * take turns, and then the devices of each: a developer with many units delays another one by at most one commit. Units
 * of one device stay in order. With several `lanes`, a commit can begin before another one has ended.
 */
export function createUnitQueue(
  commit: (batch: Waiting[]) => Promise<Waiting[] | undefined>,
  {
    perCommit = () => UNITS_PER_COMMIT,
    perKey = Number.POSITIVE_INFINITY,
    ownerOf = () => undefined,
    lanes = 1,
    apartMs = () => 0,
    busy,
  }: QueueOptions = {},
) {
  /** Units that have come since the last commit was gathered. */
  const fresh: Waiting[] = [];
  /** Units that were too many for one commit. */
  const backlog = createFairQueue<Waiting>();
  /** Units that `commit` has returned, or that were held; they go into the next commit before all other units. */
  let first: Waiting[] = [];
  /** Units that wait until another commit with units of their device has ended, by device. */
  const held = new Map<string, Waiting[]>();
  const isBurst = createBurstDetector();
  const developers = createDeveloperWatch();
  let urgent = 0; // the number of waiting units whose callers wait for an answer
  let running = 0; // the number of commits in progress
  let gathering = false;
  let beganMs = Number.NEGATIVE_INFINITY; // when the last commit began
  let lastUrgent = 0; // the number of units in the last commit whose callers waited for an answer
  let soon: NodeJS.Timeout | undefined;
  let hurrying = 0; // those who wait for the whole service
  let isPausing = false; // until the next commit may begin beside one in progress
  let closed = false;
  const isRunning = (): boolean => gathering || running > 0;
  const idleState = createIdle(() => isRunning() || held.size > 0 || waiting() > 0);

  /** The number of units that wait for their turn only. */
  const waiting = (): number => fresh.length + first.length + backlog.size();

  /** The keys under which a unit counts as busy; without any it runs beside all others. */
  function busyKeysOf({ key, about, urgent: isUrgent }: Waiting): readonly string[] {
    if (key !== undefined) return [key];
    return about ?? (isUrgent || lanes === 1 ? [] : [NO_KEY]);
  }

  /** Keeps a unit while one of its keys is busy; returns false when none is. */
  function hold(unit: Waiting): boolean {
    const key = busy && busyKeysOf(unit).find((one) => held.has(one) || busy.has(one));
    if (key === undefined) return false;
    const before = held.get(key);
    if (before) before.push(unit);
    else held.set(key, [unit]);
    return true;
  }

  /** Lets held units go whose device is not busy any more. */
  function release(keys: readonly string[]): void {
    if (held.size === 0) return;
    for (const key of keys) {
      const units = held.get(key);
      if (!units) continue;
      held.delete(key);
      first.push(...units);
      urgent += units.length;
    }
    if (urgent > 0) start();
  }
  busy?.onFree(release);

  function takeBatch(): Waiting[] {
    const most = Math.min(perCommit(), developers.areSeveral() ? SHARED_COMMIT : UNITS_PER_COMMIT);
    const isFew = fresh.length === waiting() && fresh.length <= Math.min(most, perKey);
    if (isFew && (!busy || busy.isEmpty())) return fresh.splice(0);
    for (const unit of fresh.splice(0)) {
      const about = unit.key ?? unit.about?.[0] ?? '';
      const owner = (about && ownerOf(about)) || '';
      developers.saw(owner);
      const { whose } = unit;
      backlog.put(whose === undefined ? [owner, about] : [`for ${whose}`, `${about} for ${whose}`], unit);
    }
    const batch: Waiting[] = [];
    const taken = new Map<string, number>();
    const before = first;
    first = [];
    const add = (unit: Waiting): void => {
      if (hold(unit)) return;
      const { key } = unit;
      const count = key === undefined ? 0 : (taken.get(key) ?? 0);
      const fits = count < perKey && batch.length < most;
      (fits ? batch : first).push(unit);
      // A unit that does not fit also closes the batch for later units of its device, so that they stay in order.
      if (key !== undefined) taken.set(key, fits ? count + 1 : perKey);
    };
    for (const unit of before) add(unit);
    while (batch.length < most && first.length < most) {
      const unit = backlog.take();
      if (!unit) break;
      add(unit);
    }
    return batch;
  }

  async function drain(): Promise<void> {
    const batch = takeBatch();
    lastUrgent = 0;
    for (const unit of batch) if (unit.urgent) lastUrgent += 1;
    // The units that did not fit must go into the next commit even if no caller waits for them, so all count as urgent.
    urgent = waiting();
    gathering = false;
    if (batch.length > 0) {
      const keys = busy ? [...new Set(batch.flatMap(busyKeysOf))] : [];
      busy?.take(keys);
      running += 1;
      beganMs = performance.now();
      if (urgent > 0) start();
      const left = await commit(batch);
      running -= 1;
      if (left) {
        first = [...left, ...first];
        urgent += left.length;
      }
      busy?.free(keys);
    }
    if (urgent > 0) start();
    else if (waiting() > 0) startSoon();
    else idleState.tell();
  }

  /**
   * Commits when as many units with waiting callers have come as the last commit had, or after this many turns of the
   * event loop. Units without a waiting caller do not count, because waiting for more of them would delay the callers.
   */
  function gather(turns: number): void {
    setImmediate(() => {
      if (turns > 1 && urgent < lastUrgent) gather(turns - 1);
      else void drain();
    });
  }

  function start(): void {
    clearTimeout(soon);
    soon = undefined;
    if (gathering || running >= lanes) return;
    const leftMs = running === 0 ? 0 : beganMs + apartMs() - performance.now();
    if (leftMs === Number.POSITIVE_INFINITY) return;
    if (leftMs > 0) {
      if (isPausing) return;
      isPausing = true;
      setTimeout(() => {
        isPausing = false;
        if (urgent > 0) start();
      }, leftMs);
      return;
    }
    gathering = true;
    gather(TURNS);
  }

  function startSoon(): void {
    if (hurrying > 0 || idleState.awaited()) start();
    else if (!isRunning()) soon ??= setTimeout(start, SOON_MS);
  }

  function submit<Result>(
    work: (unit: UnitOfWork) => Promise<Result>,
    { key, about, whose, urgent: isUrgent }: Pick<Waiting, 'key' | 'about' | 'whose' | 'urgent'>,
  ): Promise<Result> {
    if (closed) return Promise.reject(new Error('the database is closed'));
    return new Promise<Result>((resolve, reject) => {
      fresh.push({ work, resolve: resolve as (value: unknown) => void, reject, key, about, whose, urgent: isUrgent });
      if (isUrgent) {
        urgent += 1;
        start();
      } else startSoon();
    });
  }

  /** Resolves when no unit waits or runs; units that wait for a commit to join are committed now. */
  async function idle(): Promise<void> {
    const rested = idleState.idle();
    if (waiting() > 0) start();
    await rested;
  }

  function hurry(): () => void {
    hurrying += 1;
    if (soon) start();
    return () => {
      hurrying -= 1;
    };
  }

  return {
    transact: ((work, { device, about, whose, pace = 'now' }: UnitOptions = {}) =>
      submit(work, {
        key: device,
        about: about === undefined ? about : [about].flat(),
        whose,
        urgent: pace === 'now' || (pace === 'crowd' && !isBurst()),
      })) as Transact,
    idle,
    /** From now on, no unit is kept so that it can join a commit, until the returned function is called. */
    hurry,
    /** True while a commit is being made. */
    isRunning,
    async close(): Promise<void> {
      closed = true;
      await idle();
    },
  };
}
