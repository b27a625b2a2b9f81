import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Milliseconds between two pieces of a look, and the keys that a piece looks at. */
const PIECE_MS = 1_000;
const PER_PIECE = 64;

export interface SlowLook {
  /** What is told in `/readyz` while what was overlooked has not moved yet; undefined when nothing was. */
  doubt(): string | undefined;
  /** Why this node should get no requests: what was overlooked did not move when it was moved. Undefined otherwise. */
  trouble(): string | undefined;
  stop(): void;
}

type Suspect<Key> = [key: Key, row: string | number];
/** Rows of several keys can have the same identifier. */
const nameOf = (suspect: Suspect<unknown>): string => JSON.stringify(suspect);

interface Parts<Key> {
  clock: Pick<Clock, 'after'>;
  log: Pick<Log, 'error' | 'warn'>;
  /** The name of the rows that wait, for the log: `commands`. */
  what: string;
  /** All keys at present; those that the look began with are looked at, one after another. */
  keys(): Iterable<Key> | AsyncIterable<Key>;
  /** The row that is due for this key and moved by nobody, by its identifier; undefined without one. */
  overlooked(key: Key): Promise<string | number | undefined>;
  /** Milliseconds between two pieces. */
  pieceMs?: number;
  /** Does what the wake-up should have done. */
  move(key: Key): void;
  /** Counts what was overlooked. */
  count(): void;
}

/**
 * Looks slowly for what is due and moved by nobody, because its wake-up was lost. Each wake-up is meant to come by itself,
 * so a finding is a fault of the service: it is told in an error line and in a metric that must stay 0, and then moved. It
 * counts only if the same row is found again in the next piece, because a wake-up comes a moment after its commit, and
 * because a key may have another row at work each time.
 */
export function createSlowLook<Key>(parts: Parts<Key>): SlowLook {
  const { clock, log, what, keys, overlooked, move, count, pieceMs = PIECE_MS } = parts;
  let round: Iterator<Key> | AsyncIterator<Key> = [][Symbol.iterator]();
  let suspects: Suspect<Key>[] = [];
  /** What was overlooked and moved, by its name, until it is seen to move; `isStuck` when it was moved again since. */
  const moved = new Map<string, { suspect: Suspect<Key>; isStuck: boolean }>();
  let cancel: () => void = () => undefined;
  let stopped = false;

  /** The row of a key that is overlooked. One that cannot be looked at hides no other. */
  async function rowOf(key: Key): Promise<string | number | undefined> {
    try {
      return stopped ? undefined : await overlooked(key);
    } catch (err) {
      if (isDatabaseAway(err)) throw err;
      log.warn({ err, what, key }, 'it could not be told whether something is overlooked');
      return undefined;
    }
  }

  async function next(): Promise<Key[]> {
    const piece: Key[] = [];
    while (piece.length < PER_PIECE) {
      const one = await round.next();
      if (one.done) break;
      piece.push(one.value);
    }
    if (piece.length < PER_PIECE) {
      const all = keys();
      round = Symbol.asyncIterator in all ? all[Symbol.asyncIterator]() : [...all].values();
    }
    return piece;
  }

  async function look(): Promise<void> {
    const before = moved.values().map(({ suspect }) => suspect);
    const again = [...before, ...suspects.filter((one) => !moved.has(nameOf(one)))];
    suspects = [];
    for (const suspect of again) {
      if (stopped) return;
      const [key, row] = suspect;
      const name = nameOf(suspect);
      if ((await rowOf(key)) !== row) {
        moved.delete(name);
        continue;
      }
      const isStuck = moved.has(name);
      moved.set(name, { suspect, isStuck });
      count();
      log.error({ what, key, row, isStuck }, 'overlooked: something is due, and nobody has moved it; it is moved now');
      move(key);
    }
    for (const key of await next()) {
      const row = await rowOf(key);
      if (row !== undefined) suspects.push([key, row]);
    }
  }

  function arm(): void {
    if (stopped) return;
    cancel = clock.after(pieceMs, () => {
      // A database that does not answer is looked at again in a second; other parts tell of it.
      look().then(arm, arm);
    });
  }
  arm();

  return {
    doubt: () => (moved.size > 0 ? `${what} were due, and nobody had moved them` : undefined),
    trouble: () => (moved.values().some(({ isStuck }) => isStuck) ? `${what} are due, and cannot be moved` : undefined),
    stop(): void {
      stopped = true;
      cancel();
    },
  };
}
