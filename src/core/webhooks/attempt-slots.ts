import type { Clock } from '../../runtime/clock.ts';
import { createSlots } from './slots.ts';

/** What a place is for: a receiver that answers at once, or one that is new, slow, or failed last. */
export type Kind = 'quick' | 'trial';

/** An attempt under way. */
export interface Place<Receiver> {
  readonly receiver: Receiver;
  readonly kind: Kind;
  /** Microseconds. */
  readonly startedAt: number;
  /** Ends the attempt; set while it can be ended. */
  cut: ((why: string) => void) | undefined;
}

interface Parts<Receiver> {
  clock: Clock;
  /** A place of its kind may be free for a receiver that waits for one. */
  resume(receiver: Receiver): void;
  /** An attempt of the receiver has not been answered within a second. */
  late(receiver: Receiver): void;
  /** An attempt was cut because others needed its place. */
  onCut(): void;
}

/** Attempts at a time. All of them are open connections: `open-files.ts` counts on their sum. */
const PLACES = { quick: 512, trial: 128, late: 512 };
/** Microseconds in which an answer is quick. */
export const QUICK = 1_000_000;
/** Microseconds between two looks at what became late. */
const GAP = 50_000;
const CUT = 'no answer yet, and others needed the place';

/**
 * The places of attempts under way, over all receivers. Those that answer at once have places of their own, so nothing that
 * is slow, new or broken can take one from them. After a second without an answer an attempt gives its place up and goes on
 * among the late ones; when there is no more room for those either, the oldest one of the receiver with most of them is
 * cut, so what hangs shares with what hangs, by how long it holds its places.
 */
export function createPlaces<Receiver extends object>({ clock, resume, late, onCut }: Parts<Receiver>) {
  type Taken = Place<Receiver>;
  const slots = { quick: createSlots(PLACES.quick, resume), trial: createSlots(PLACES.trial, resume) };
  /** In the order in which they began. */
  const young = new Set<Taken>();
  /** By receiver, the oldest first. */
  const old = new Map<Receiver, Set<Taken>>();
  let oldCount = 0;
  let cancelLook: (() => void) | undefined;

  /** The oldest late attempt of the receiver with most of them; undefined while none has two. */
  function toMakeRoom(): Taken | undefined {
    let most: Set<Taken> | undefined;
    for (const of of old.values()) if (!most || of.size > most.size) most = of;
    if (!most || most.size < 2) return undefined;
    for (const oldest of most) if (oldest.cut) return oldest;
    return undefined;
  }

  function forgetOld(place: Taken): boolean {
    const own = old.get(place.receiver);
    if (!own?.delete(place)) return false;
    if (own.size === 0) old.delete(place.receiver);
    oldCount -= 1;
    return true;
  }

  /** Moves what has become late, as far as there is room, or room can be made. */
  function look(): void {
    cancelLook?.();
    cancelLook = undefined;
    const now = clock.now();
    // First all of them slow down: else the places that become free here would be theirs again.
    for (const place of young) {
      if (place.startedAt + QUICK > now) break;
      late(place.receiver);
    }
    for (const place of young) {
      const left = place.startedAt + QUICK - now;
      if (left > 0) {
        arm(left);
        return;
      }
      if (oldCount >= PLACES.late) {
        const other = toMakeRoom();
        if (!other) return; // the next one that ends makes room
        forgetOld(other);
        onCut();
        other.cut?.(CUT);
      }
      young.delete(place);
      oldCount += 1;
      old.set(place.receiver, (old.get(place.receiver) ?? new Set()).add(place));
      slots[place.kind].release();
    }
  }

  function arm(micros: number): void {
    cancelLook ??= clock.after(Math.ceil(Math.max(micros, GAP) / 1000), look);
  }

  return {
    free: (kind: Kind): boolean => slots[kind].free(),
    wait: (kind: Kind, receiver: Receiver): void => slots[kind].wait(receiver),
    /** Whether somebody waits for a place. */
    waits: (): boolean => slots.quick.waits() || slots.trial.waits(),

    take(kind: Kind, receiver: Receiver): Taken {
      slots[kind].take();
      const place: Taken = { receiver, kind, startedAt: clock.now(), cut: undefined };
      young.add(place);
      arm(QUICK);
      return place;
    },

    /** The attempt has ended. */
    release(place: Taken): void {
      if (young.delete(place)) slots[place.kind].release();
      else if (forgetOld(place)) look();
      if (young.size > 0) return;
      cancelLook?.();
      cancelLook = undefined;
    },

    /** Whether an attempt of the receiver is late. */
    isLate: (receiver: Receiver): boolean => old.has(receiver),
  };
}
