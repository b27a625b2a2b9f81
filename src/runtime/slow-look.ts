import type { Clock } from './clock.ts';
import type { Log } from './log.ts';

/** Milliseconds between two pieces of a look, and the keys that a piece looks at. */
const PIECE_MS = 1_000;
const PER_PIECE = 64;

interface Parts<Key> {
  clock: Pick<Clock, 'after'>;
  log: Pick<Log, 'error' | 'warn'>;
  /** What waits, in words for the log: `commands`. */
  what: string;
  /** All keys at present; those that the look began with are looked at, one after another. */
  keys(): Iterable<Key>;
  /** Whether something is due for this key, which nobody moves. */
  isOverlooked(key: Key): Promise<boolean>;
  /** Does what the wake-up should have done. */
  move(key: Key): void;
  /** Counts what was overlooked. */
  count(): void;
}

/**
 * Looks slowly for what is due and moved by nobody, because its wake-up was lost. Each wake-up is meant to come by itself,
 * so a finding is a fault of the service: it is told in an error line and in a metric that must stay 0, and then moved. It
 * counts only if it is found again in the next piece, because a wake-up comes a moment after its commit.
 */
export function createSlowLook<Key>({ clock, log, what, keys, isOverlooked, move, count }: Parts<Key>) {
  let round: Iterator<Key> = [][Symbol.iterator]();
  let suspects: Key[] = [];
  let cancel: () => void = () => undefined;
  let stopped = false;

  function next(): Key[] {
    const piece: Key[] = [];
    while (piece.length < PER_PIECE) {
      const one = round.next();
      if (one.done) break;
      piece.push(one.value);
    }
    if (piece.length < PER_PIECE) round = [...keys()].values();
    return piece;
  }

  async function look(): Promise<void> {
    const again = suspects;
    suspects = [];
    for (const key of again) {
      if (stopped || !(await isOverlooked(key))) continue;
      count();
      log.error({ what, key }, 'overlooked: something is due, and nobody has moved it; it is moved now');
      move(key);
    }
    for (const key of next()) if (!stopped && (await isOverlooked(key))) suspects.push(key);
  }

  function arm(): void {
    if (stopped) return;
    cancel = clock.after(PIECE_MS, () => {
      // A database that does not answer is looked at again in a second; other parts tell of it.
      look().then(arm, arm);
    });
  }
  arm();

  return {
    stop(): void {
      stopped = true;
      cancel();
    },
  };
}
