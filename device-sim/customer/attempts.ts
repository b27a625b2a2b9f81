import { remember } from '../bounded-map.ts';
import type { Look } from '../promises/looks.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The documented pauses between the attempts of one webhook, in milliseconds (docs/application-developers.md). */
const SCHEDULE = [
  5000,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
] as const;
/**
 * The service may shorten each pause by up to 20 %. A pause that is 100 ms shorter still is accepted, because timers
 * are not exact.
 */
const SHORTEST_SHARE = 0.8;
const ACCURACY_MILLISECONDS = 100;
/** The number of webhooks whose attempts are remembered; the oldest webhook is forgotten first. */
const KEPT = 20_000;

/**
 * How an attempt ended: the receiver answered 2xx; it answered 410; it answered otherwise or not at all; it closed the
 * connection.
 */
export type AttemptEnd = 'taken' | 'gone' | 'refused' | 'dropped';

/**
 * An attempt that breaks the documented schedule: the webhook was already accepted (`repeated`), or the pause before
 * the attempt was too short (`hammering`). `text` says which webhook it was, and when.
 */
export interface Untimely {
  readonly kind: 'repeated' | 'hammering';
  readonly text: string;
}

interface Known {
  taken: boolean;
  gone: boolean;
  /** The pause in milliseconds that the last answer asked for (Retry-After). */
  wanted: number;
  failures: number;
  /**
   * The time at which the last attempt failed: the pause before the next attempt counts from it. Null: the next attempt
   * may come at any time.
   */
  failedAt: number | null;
  /**
   * Whether the receiver closed the connection of the last attempt. After that the service may send the webhook once
   * more at once.
   */
  dropped: boolean;
  droppedAt: number;
}

/** Whether a pause is as long as the schedule wants it after so many failed attempts. */
const isInTime = (waited: number, failures: number): boolean =>
  waited >= SHORTEST_SHARE * (SCHEDULE[failures - 1] ?? 0) - ACCURACY_MILLISECONDS;

/** The attempts of each webhook, as its receiver sees them. Times are in milliseconds. */
export interface Attempts {
  /** An attempt arrived. */
  arrived(webhookId: string, at: number): Untimely | undefined;
  /** `retryAfter`: the milliseconds that the answer asks to wait. */
  ended(webhookId: string, end: AttemptEnd, at: number, retryAfter?: number): void;
  /**
   * Forgets all earlier attempts. Called when the service may have been away, because it may then repeat webhooks that
   * the receiver has already accepted.
   */
  forget(): void;
  /**
   * True: the service fails now, and all attempts are forgotten and not judged until it is back (false). Faults may overlap:
   * each begins and ends once.
   */
  suspend(suspended: boolean): void;
  /**
   * Stops the judgement of attempts. Called when the customer asks for redeliveries, because their attempts follow no
   * schedule.
   */
  rest(): void;
}

/**
 * `isScheduled`: false for an endpoint. When it works again it gets at once what waited, so its attempts follow no schedule that
 * a receiver knows.
 */
export function createAttempts(look: Look = () => {}, isScheduled = true): Attempts {
  const all = new Map<string, Known>();
  let resting = false;
  /** The number of faults of the service that last; its attempts are judged when there are none. */
  let faults = 0;
  /** The webhooks that the receiver has in work, and those of them whose answer a failing service may not have heard. */
  const open = new Set<string>();
  const unheard = new Set<string>();

  function forget(): void {
    all.clear();
    for (const webhookId of open) unheard.add(webhookId);
  }

  return {
    arrived(webhookId, at) {
      open.add(webhookId);
      if (faults > 0) unheard.add(webhookId);
      else unheard.delete(webhookId);
      const known = all.get(webhookId);
      if (!known || resting || faults > 0) return undefined;
      const { taken, gone, failures, failedAt } = known;
      if (taken) return { kind: 'repeated', text: `webhook ${webhookId} came again after an answer of 2xx` };
      if (gone) return { kind: 'hammering', text: `webhook ${webhookId} came again after an answer of 410` };
      // A webhook that waits its time after its connection was closed is not the one that is sent once more at once. So the
      // attempt before counts as failed, and the connection of this one may be closed as well.
      if (known.dropped && isInTime(at - known.droppedAt, failures + 1))
        Object.assign(known, { dropped: false, failures: failures + 1 });
      const scheduled = SCHEDULE[failures - 1];
      if (!isScheduled || failedAt === null || scheduled === undefined) return undefined;
      const waited = at - failedAt;
      look(known.wanted > scheduled ? 'webhook-retry-after' : 'webhook-schedule');
      if (isInTime(waited, failures) && waited >= known.wanted - ACCURACY_MILLISECONDS) return undefined;
      const text = `webhook ${webhookId} came again ${(waited / 1000).toFixed(1)} s after attempt ${failures} failed`;
      const pause =
        known.wanted > scheduled
          ? `Retry-After asked for ${known.wanted / 1000} s`
          : `the documented pause is ${scheduled / 1000} s`;
      return { kind: 'hammering', text: `${text}; ${pause}` };
    },

    ended(webhookId, end, at, retryAfter = 0) {
      open.delete(webhookId);
      if (unheard.delete(webhookId) || faults > 0) return;
      const known = all.get(webhookId) ?? {
        taken: false,
        gone: false,
        wanted: 0,
        failures: 0,
        failedAt: null,
        dropped: false,
        droppedAt: 0,
      };
      known.wanted = retryAfter;
      if (end === 'taken') look('webhook-accepted');
      if (end === 'gone') look('webhook-gone');
      if (end === 'taken') known.taken = true;
      else if (end === 'gone') known.gone = true;
      else if (end === 'dropped' && !known.dropped)
        Object.assign(known, { dropped: true, droppedAt: at, failedAt: null });
      else Object.assign(known, { dropped: false, failures: known.failures + 1, failedAt: at });
      remember(all, webhookId, known, KEPT);
    },

    forget,
    suspend(suspended) {
      faults += suspended ? 1 : -1;
      forget();
    },
    rest() {
      resting = true;
    },
  };
}
