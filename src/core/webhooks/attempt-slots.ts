import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { createSlots } from './slots.ts';

/**
 * The kinds of slots: `quick` for receivers that answer within a second, `trial` for receivers that are new or slow, or
 * whose last attempt failed.
 */
export type Kind = 'quick' | 'trial';

/** An attempt in progress. */
export interface AttemptSlot<Receiver> {
  readonly receiver: Receiver;
  readonly kind: Kind;
  readonly startedAt: Micros;
  /** Ends the attempt; set while it can be ended. */
  cut: ((why: string) => void) | undefined;
}

interface Parts<Receiver> {
  clock: Clock;
  /** Called for a waiting receiver when a slot of its kind may be free. */
  resume(receiver: Receiver): void;
  /** Called when an attempt of the receiver has had no answer for a second. */
  late(receiver: Receiver, now: Micros): void;
  /** Called when an attempt was cut because other attempts needed its slot. */
  onCut(): void;
}

/**
 * The most attempts in progress, by kind. Each is an open connection, so `open-files.ts` reserves files for the sum of
 * these numbers.
 */
const SLOTS = { quick: 512, trial: 128, late: 512 };
/** A receiver may run ahead of its answers by a sixteenth of the free slots. */
const AHEAD_PART = 16;
/** Microseconds within which an answer counts as quick. */
export const QUICK_MICROS = 1_000_000;
/** The least microseconds between two checks for late attempts. */
const GAP_MICROS = 50_000;
const CUT = 'ended without an answer after more than a second: too many requests wait for an answer';

/**
 * Limits the attempts in progress to all receivers; an attempt takes a slot. Receivers that answer at once have slots
 * of their own, which slow, new or failing receivers cannot take. An attempt without an answer for a second gives up
 * its slot and becomes late. When there are too many late attempts, the receiver with most of them loses its oldest; so
 * receivers that hang share a bound of their own.
 */
export function createAttemptSlots<
  Receiver extends { readonly kind: Kind; readonly inFlight: number; readonly ahead: number },
>({ clock, resume, late, onCut }: Parts<Receiver>) {
  type Taken = AttemptSlot<Receiver>;
  const slots = { quick: createSlots(SLOTS.quick, resume), trial: createSlots(SLOTS.trial, resume) };
  /** Attempts that are not late, in the order of their beginning. */
  const young = new Set<Taken>();
  /** Late attempts by receiver, the oldest first. */
  const old = new Map<Receiver, Set<Taken>>();
  let oldCount = 0;
  let cancelCheck: (() => void) | undefined;

  /** The oldest late attempt of the receiver with most of them; undefined while no receiver has two. */
  function attemptToCut(): Taken | undefined {
    let most: Set<Taken> | undefined;
    for (const of of old.values()) if (!most || of.size > most.size) most = of;
    if (!most || most.size < 2) return undefined;
    for (const oldest of most) if (oldest.cut) return oldest;
    return undefined;
  }

  function forgetOld(slot: Taken): boolean {
    const own = old.get(slot.receiver);
    if (!own?.delete(slot)) return false;
    if (own.size === 0) old.delete(slot.receiver);
    oldCount -= 1;
    return true;
  }

  /**
   * Makes attempts late that have had no answer for a second. Each of them needs room among the late attempts; if there
   * is none, an older late attempt is ended for it.
   */
  function checkLate(): void {
    const moved = new Set<Receiver>();
    moveLate(moved);
    for (const receiver of moved) resume(receiver);
  }

  function moveLate(moved: Set<Receiver>): void {
    cancelCheck?.();
    cancelCheck = undefined;
    const now = clock.now();
    // The slots that become free below must not go to the receivers of these late attempts, so these receivers are
    // slowed down first.
    for (const slot of young) {
      if (slot.startedAt + QUICK_MICROS > now) break;
      late(slot.receiver, now);
      moved.add(slot.receiver);
    }
    for (const slot of young) {
      const left = slot.startedAt + QUICK_MICROS - now;
      if (left > 0) {
        arm(left);
        return;
      }
      if (oldCount >= SLOTS.late) {
        const other = attemptToCut();
        if (!other) return; // the end of any late attempt makes room, and calls this again
        forgetOld(other);
        onCut();
        other.cut?.(CUT);
      }
      young.delete(slot);
      oldCount += 1;
      old.set(slot.receiver, (old.get(slot.receiver) ?? new Set()).add(slot));
      slots[slot.kind].release();
    }
  }

  function arm(micros: number): void {
    cancelCheck ??= clock.after(Math.ceil(Math.max(micros, GAP_MICROS) / 1000), checkLate);
  }

  return {
    /**
     * Whether the receiver may begin another attempt. Two dynamic thresholds (Choudhury and Hahne, 1998) leave slots
     * for receivers that have taken none:
     *
     * 1. More slots must be free than the receiver has taken. So busy receivers share the slots evenly.
     * 2. More slots must be free than sixteen times the attempts that it runs ahead of its answers. So a receiver that
     *    begins to hang soon gets no more. With the first rule only, ten such receivers could take all slots within a
     *    moment: the first one half of them, and each other one half of the rest.
     */
    mayTake(receiver: Receiver): boolean {
      const free = slots[receiver.kind].free();
      return free > receiver.ahead * AHEAD_PART && free > receiver.inFlight - (old.get(receiver)?.size ?? 0);
    },
    wait: (receiver: Receiver): void => slots[receiver.kind].wait(receiver),
    /** Whether a receiver waits for a slot. */
    waits: (): boolean => slots.quick.waits() || slots.trial.waits(),

    take(receiver: Receiver): Taken {
      const { kind } = receiver;
      slots[kind].take();
      const slot: Taken = { receiver, kind, startedAt: clock.now(), cut: undefined };
      young.add(slot);
      arm(QUICK_MICROS);
      return slot;
    },

    /** Call this when an attempt has ended. */
    release(slot: Taken): void {
      if (young.delete(slot)) slots[slot.kind].release();
      else if (forgetOld(slot)) checkLate();
      if (young.size > 0) return;
      cancelCheck?.();
      cancelCheck = undefined;
    },

    /** The number of the receiver's late attempts. */
    lateOf: (receiver: Receiver): number => old.get(receiver)?.size ?? 0,

    /** Ends the oldest late attempt of the receiver, so that another one can begin. */
    cutOldest(receiver: Receiver): void {
      for (const slot of old.get(receiver) ?? []) {
        if (!slot.cut) continue;
        forgetOld(slot);
        onCut();
        slot.cut(CUT);
        return;
      }
    },
  };
}
