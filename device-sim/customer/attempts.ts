import { remember } from '../bounded-map.ts';

/** The documented times between the attempts of a webhook, in milliseconds (docs/application-developers.md). */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
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
/** Each time may be shorter by 20 %; the rest is for the accuracy of timers. */
const SHORTEST_SHARE = 0.8;
const ACCURACY_MILLISECONDS = 100;
/** How many webhooks are remembered. */
const KEPT = 20_000;

/** The end of an attempt: answered 2xx; another answer, or none; the receiver closed the connection. */
export type AttemptEnd = 'taken' | 'refused' | 'dropped';

/** A webhook that should not have come now; `text` says why. */
export interface Untimely {
  readonly kind: 'repeated' | 'hammering';
  readonly text: string;
}

interface Known {
  taken: boolean;
  failures: number;
  /** The time from which the pause before the next attempt counts; null: the next attempt may come at any time. */
  failedAt: number | null;
  /** Whether the connection was closed at the last attempt: the service may send again at once, one time. */
  dropped: boolean;
}

/** The attempts of each webhook, as its receiver sees them. Times are in milliseconds. */
export interface Attempts {
  /** An attempt arrived. */
  arrived(webhookId: string, at: number): Untimely | undefined;
  ended(webhookId: string, end: AttemptEnd, at: number): void;
  /** Something outside of the receiver explains repetitions of all earlier webhooks: the service was away. */
  forget(): void;
  /** From now on the customer itself asks for redeliveries, so no webhook is untimely. */
  rest(): void;
}

export function createAttempts(): Attempts {
  const all = new Map<string, Known>();
  let resting = false;

  return {
    arrived(webhookId, at) {
      const known = all.get(webhookId);
      if (!known || resting) return undefined;
      const { taken, failures, failedAt } = known;
      if (taken) return { kind: 'repeated', text: `webhook ${webhookId} came again after an answer of 2xx` };
      const wanted = SCHEDULE[failures - 1];
      if (failedAt === null || wanted === undefined) return undefined;
      const waited = at - failedAt;
      if (waited >= SHORTEST_SHARE * wanted - ACCURACY_MILLISECONDS) return undefined;
      const text = `webhook ${webhookId} came again ${(waited / 1000).toFixed(1)} s after attempt ${failures} failed`;
      return { kind: 'hammering', text: `${text}, not after ${wanted / 1000} s` };
    },

    ended(webhookId, end, at) {
      const known = all.get(webhookId) ?? { taken: false, failures: 0, failedAt: null, dropped: false };
      if (end === 'taken') known.taken = true;
      else if (end === 'dropped' && !known.dropped) Object.assign(known, { dropped: true, failedAt: null });
      else Object.assign(known, { dropped: false, failures: known.failures + 1, failedAt: at });
      remember(all, webhookId, known, KEPT);
    },

    forget: () => all.clear(),
    rest() {
      resting = true;
    },
  };
}
