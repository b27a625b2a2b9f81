import type { Journal } from '../disk/journal.ts';
import type { Memory } from '../disk/memory.ts';
import type { DiskRecord } from '../disk/records.ts';
import type { Bounds } from './bounds.ts';
import type { Effect, LogLevel, Outgoing } from './effects.ts';

/** Milliseconds until a write that failed is tried again; each further pause is twice as long. */
const FIRST_PAUSE = 1000;
const LONGEST_PAUSE = 60_000;

export interface Clocks {
  /** Milliseconds of the wall clock, which may be wrong. */
  now(): number;
  /** Milliseconds of a clock that nobody sets. */
  monotonic(): number;
}

interface Waiting {
  records: readonly DiskRecord[];
  stored: () => void;
}

/** The disk, the connection and the effects, which all parts of the core share. */
export class Stage {
  readonly bounds: Bounds;
  readonly clocks: Clocks;
  isConnected = false;
  readonly #journal: Journal;
  #effects: Effect[] = [];
  #waiting: Waiting[] = [];
  #pause = FIRST_PAUSE;
  #retryAt = Number.POSITIVE_INFINITY;
  #token = 0;
  #confirmations = new Map<number, () => void>();

  constructor(journal: Journal, bounds: Bounds, clocks: Clocks) {
    this.#journal = journal;
    this.bounds = bounds;
    this.clocks = clocks;
  }

  get memory(): Memory {
    return this.#journal.memory;
  }

  emit(effect: Effect): void {
    this.#effects.push(effect);
  }

  log(level: LogLevel, text: string): void {
    this.emit({ log: { level, text } });
  }

  /** The effects since the last call. */
  take(): Effect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  /** `confirmed` is called at the PUBACK, if it comes on this connection. */
  publish(outgoing: Outgoing, confirmed: () => void = () => {}): void {
    this.#token += 1;
    this.#confirmations.set(this.#token, confirmed);
    this.emit({ publish: outgoing, token: this.#token });
  }

  confirm(token: number): void {
    const confirmed = this.#confirmations.get(token);
    this.#confirmations.delete(token);
    confirmed?.();
  }

  /** No PUBACK of this connection comes any more. */
  endConnection(): void {
    this.isConnected = false;
    this.#confirmations.clear();
  }

  /** Throws when the disk fails: nothing was stored, and nothing will be. */
  writeNow(...records: readonly DiskRecord[]): void {
    this.#journal.write(...records);
    this.#retryWaiting();
  }

  /** Whether it was stored; for records whose loss does no harm. */
  tryToWrite(...records: readonly DiskRecord[]): boolean {
    try {
      this.writeNow(...records);
      return true;
    } catch (error) {
      this.log('error', `the disk failed: ${String(error)}`);
      return false;
    }
  }

  /**
   * Calls `stored` as soon as the records are on the disk: now, or when the disk is good again. The returned function takes
   * them back; false: they are on the disk already.
   */
  write(records: readonly DiskRecord[], stored: () => void): () => boolean {
    const waiting = { records, stored };
    this.#waiting.push(waiting);
    if (this.#waiting.length === 1) this.#retryWaiting();
    return () => {
      const at = this.#waiting.indexOf(waiting);
      if (at >= 0) this.#waiting.splice(at, 1);
      return at >= 0;
    };
  }

  timePassed(): void {
    if (this.clocks.monotonic() >= this.#retryAt) this.#retryWaiting();
  }

  #retryWaiting(): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      try {
        this.#journal.write(...first.records);
      } catch (error) {
        this.#retryAt = this.clocks.monotonic() + this.#pause;
        this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE);
        this.log('error', `the disk failed, and nothing is begun or answered until it is good: ${String(error)}`);
        this.emit({ wake: this.#retryAt });
        return;
      }
      this.#waiting.shift();
      first.stored();
    }
    this.#pause = FIRST_PAUSE;
    this.#retryAt = Number.POSITIVE_INFINITY;
  }
}
