import { type FailingReceiver, listFailing } from '../core/webhooks/attempt-repository.ts';
import type { WebhookSetting } from '../platform/contracts/types.ts';
import { WEBHOOK_SETTINGS } from '../platform/contracts/values.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import { pageOf } from '../runtime/page.ts';
import type { Micros } from '../runtime/units.ts';
import { countPending, type PendingOf } from './receivers-repository.ts';

/** A receiver counts as slow when a delivery should have been sent this many microseconds ago, and was not. */
const SLOW_AFTER = 30_000_000;
/** The most receivers that the feed shows. */
const WATCHED = 200;

export const RECEIVER_STATES = ['healthy', 'slow', 'failing'] as const;

/** The two parts that identify a receiver: an application, and the setting that holds its URL. */
interface Name {
  applicationId: string;
  setting: WebhookSetting;
}

/** The state of a receiver; times in microseconds. */
export interface ReceiverState extends Name {
  url: string | null;
  /** `failing`: the last attempt failed. `slow`: a delivery should have been sent more than half a minute ago. */
  state: (typeof RECEIVER_STATES)[number];
  pending: number;
  oldestDueAt: Micros | null;
  failingSince: number | null;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: Micros | null;
}

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
  /** Reads the webhook URLs of all applications. */
  urls(): Promise<{ applicationId: string; settings: Record<WebhookSetting, string | null> }[]>;
  /** Returns the last answer to the same question for a while, instead of asking again. */
  remembered<Result>(question: string, ask: () => Promise<Result>): Promise<Result>;
}

const keyOf = ({ applicationId, setting }: { applicationId: string; setting: string }): string =>
  `${applicationId} ${setting}`;
const byKey = <Row extends { applicationId: string; setting: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [keyOf(row), row]));

export type ReceiverStates = ReturnType<typeof createReceiverStates>;

/** The states of the receivers of all applications. A receiver has a URL, or pending deliveries, or both. */
export function createReceiverStates({ database: { aside }, clock, urls, remembered }: Parts) {
  function stateOf(
    name: Name,
    url: string | null,
    { waiting, failing, now }: { waiting: PendingOf | undefined; failing: FailingReceiver | undefined; now: Micros },
  ): ReceiverState {
    const oldestDueAt = waiting && waiting.firstDueAt <= now ? waiting.firstDueAt : null;
    const isSlow = oldestDueAt !== null && now - oldestDueAt > SLOW_AFTER;
    return {
      applicationId: name.applicationId,
      setting: name.setting,
      url,
      state: failing ? 'failing' : isSlow ? 'slow' : 'healthy',
      pending: waiting?.pending ?? 0,
      oldestDueAt,
      failingSince: failing?.since ?? null,
      lastStatusCode: failing?.statusCode ?? null,
      lastError: failing?.error ?? null,
      nextAttemptAt: waiting?.nextDueAt ?? null,
    };
  }

  async function look(): Promise<ReceiverState[]> {
    const now = clock.now();
    const [applications, waiting, failing] = await Promise.all([urls(), countPending(aside, now), listFailing(aside)]);
    const [waits, fails] = [byKey(waiting), byKey(failing)];
    const urlOf = new Map<string, string | null>();
    const names = new Map<string, Name>();
    for (const { applicationId, settings } of applications)
      for (const setting of WEBHOOK_SETTINGS) {
        const name = { applicationId, setting };
        urlOf.set(keyOf(name), settings[setting]);
        if (settings[setting] !== null) names.set(keyOf(name), name);
      }
    for (const name of waiting) names.set(keyOf(name), name); // deleted applications may still have pending deliveries
    return [...names]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, name]) =>
        stateOf(name, urlOf.get(key) ?? null, { waiting: waits.get(key), failing: fails.get(key), now }),
      );
  }

  const all = (): Promise<ReceiverState[]> => remembered('receivers', look);

  return {
    /**
     * Lists a page of receivers in one state, or in any, in the order of application and setting; `after` is the key of
     * the last receiver of the page before.
     */
    async list({ state, after = '', limit }: { state?: ReceiverState['state']; after?: string; limit: number }) {
      const left = (await all()).filter((row) => keyOf(row) > after && (state === undefined || row.state === state));
      return pageOf(left, limit, keyOf);
    },

    /**
     * The receivers that the feed shows: those of one application, or of all, that are not healthy or have pending
     * deliveries. There are at most WATCHED.
     */
    async watched(applicationId?: string): Promise<ReceiverState[]> {
      const of = (await all()).filter((row) => applicationId === undefined || row.applicationId === applicationId);
      return of.filter(({ state, pending }) => state !== 'healthy' || pending > 0).slice(0, WATCHED);
    },

    async counts(): Promise<{ failing: number; slow: number }> {
      const states = await all();
      const count = (wanted: ReceiverState['state']): number => states.filter(({ state }) => state === wanted).length;
      return { failing: count('failing'), slow: count('slow') };
    },
  };
}
