import { createFairQueue } from '../../runtime/fair-queue.ts';
import { createIdle } from '../../runtime/idle.ts';
import type { Transact, UnitOfWork } from './sql.ts';

/** One commit takes at most so many units, so that a burst cannot hold up others for long. */
export const UNITS_PER_COMMIT = 256;
/** Of several developers so many: a command and its answer are a few units one after another, and each waits for a commit. */
const SHARED_COMMIT = 64;
/** Milliseconds since the unit of another one, after which a developer is alone. */
const ALONE_AFTER = 1_000;

// Where several write at once, so many turns of the event loop are waited for as many units as the last commit had: a turn
// takes some 50 microseconds, a commit several times that. Whoever writes alone waits for one.
const TURNS = 4;

// A unit that nobody waits for looks so long for a commit to join. It is about the disk's time, not the domain's, so it is
// no business of the injected clock.
const PATIENCE_MILLISECONDS = 10;

// More of one kind in so many milliseconds are a crowd.
const CROWD = 10;
const CROWD_MILLISECONDS = 50;

/** A unit of work that was asked for. */
export interface Waiting {
  work: (unit: UnitOfWork) => Promise<unknown>;
  resolve: (value: unknown) => void;
  reject: (cause: unknown) => void;
  /** See Transact. */
  key: string | undefined;
  /** Somebody waits for it. */
  urgent: boolean;
}

/** Counts what comes; true when it is a crowd, also in the moment after one. */
function createCrowd(): () => boolean {
  let began = 0;
  let count = 0;
  let before = 0;
  return () => {
    const age = performance.now() - began;
    if (age > CROWD_MILLISECONDS) {
      before = age > 2 * CROWD_MILLISECONDS ? 0 : count;
      began += age;
      count = 0;
    }
    count += 1;
    return Math.max(count, before) > CROWD;
  };
}

/** Whether units of several developers have come lately. */
function createCompany() {
  let latest = '';
  let changedAt = Number.NEGATIVE_INFINITY;
  return {
    isThere: (): boolean => performance.now() - changedAt < ALONE_AFTER,
    saw(owner: string): void {
      if (owner === '' || owner === latest) return;
      if (latest !== '') changedAt = performance.now();
      latest = owner;
    },
  };
}

export interface QueueOptions {
  /** Units that a commit takes. */
  perCommit?: () => number;
  /** Units of one device that a commit takes: where each of them is a way to a server and back, one device with many would hold up all others. */
  perKey?: number;
  /** The developer of a device, where that is known. */
  ownerOf?: ((key: string) => string | undefined) | undefined;
}

/**
 * Gathers units of work for group commits: units that arrive in one turn of the event loop, or a few, wait for its end
 * (setImmediate), so that requests from many sockets share one commit. `commit` runs them, settles each, never rejects, and
 * answers those that have to go with the next one. What is too much for one commit is shared between developers, then between
 * devices: those of one developer, however many they are, hold up another's for one commit. Units of one device stay in order.
 */
export function createUnitQueue(
  commit: (batch: Waiting[]) => Promise<Waiting[] | undefined>,
  {
    perCommit = () => UNITS_PER_COMMIT,
    perKey = Number.POSITIVE_INFINITY,
    ownerOf = () => undefined,
  }: QueueOptions = {},
) {
  /** Have come since the last commit was gathered. */
  const fresh: Waiting[] = [];
  /** Were more than one commit takes. */
  const backlog = createFairQueue<Waiting>();
  /** Had their turn, and go with the next commit, before all others. */
  let first: Waiting[] = [];
  const isCrowd = createCrowd();
  const company = createCompany();
  let urgent = 0; // how many of the waiting were asked for by `transact`
  let running = false;
  let lastBatch = 0; // units of the last commit
  let soon: NodeJS.Timeout | undefined;
  let closed = false;
  const rest = createIdle(() => running || waiting() > 0);

  const waiting = (): number => fresh.length + first.length + backlog.size();

  function take(): Waiting[] {
    const most = Math.min(perCommit(), company.isThere() ? SHARED_COMMIT : UNITS_PER_COMMIT);
    if (fresh.length === waiting() && fresh.length <= Math.min(most, perKey)) return fresh.splice(0);
    for (const unit of fresh.splice(0)) {
      const { key = '' } = unit;
      const owner = (key && ownerOf(key)) || '';
      company.saw(owner);
      backlog.put([owner, key], unit);
    }
    const batch: Waiting[] = [];
    const taken = new Map<string, number>();
    const before = first;
    first = [];
    const add = (unit: Waiting): void => {
      const { key } = unit;
      const count = key === undefined ? 0 : (taken.get(key) ?? 0);
      const fits = count < perKey;
      (fits ? batch : first).push(unit);
      // Also when it does not fit: what comes later of the same device comes later.
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
    const batch = take();
    lastBatch = batch.length;
    urgent = waiting(); // what did not fit goes next
    const left = await commit(batch);
    if (left) {
      first = [...left, ...first];
      urgent += left.length;
    }
    running = false;
    if (urgent > 0) start();
    else if (waiting() > 0) startSoon();
    else rest.tell();
  }

  /** Goes when so many have come as last time, or after so many turns of the event loop without them. */
  function gather(turns: number): void {
    setImmediate(() => {
      if (turns > 1 && waiting() < lastBatch) gather(turns - 1);
      else void drain();
    });
  }

  function start(): void {
    clearTimeout(soon);
    soon = undefined;
    if (running) return;
    running = true;
    gather(TURNS);
  }

  function startSoon(): void {
    if (rest.awaited()) start();
    else if (!running) soon ??= setTimeout(start, PATIENCE_MILLISECONDS);
  }

  function submit<Result>(
    work: (unit: UnitOfWork) => Promise<Result>,
    key: string | undefined,
    isUrgent: boolean,
  ): Promise<Result> {
    if (closed) return Promise.reject(new Error('the database is closed'));
    return new Promise<Result>((resolve, reject) => {
      fresh.push({ work, resolve: resolve as (value: unknown) => void, reject, key, urgent: isUrgent });
      if (isUrgent) {
        urgent += 1;
        start();
      } else startSoon();
    });
  }

  /** Resolves when nothing waits or runs; what would have waited for company goes now. */
  async function idle(): Promise<void> {
    const rested = rest.idle();
    if (waiting() > 0) start();
    await rested;
  }

  return {
    transact: ((work, key) => submit(work, key, true)) as Transact,
    transactInCrowd: ((work, key) => submit(work, key, !isCrowd())) as Transact,
    transactSoon: ((work, key) => submit(work, key, false)) as Transact,
    idle,
    /** True while a commit is being made. */
    isRunning: (): boolean => running,
    async close(): Promise<void> {
      closed = true;
      await idle();
    },
  };
}
