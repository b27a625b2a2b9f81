import type { WebhookSetting } from '@lapel/schemas/contracts/types';
import { WEBHOOK_SETTINGS } from '@lapel/schemas/contracts/values';
import { type FailingReceiver, listFailing } from '../core/webhooks/log/attempt-repository.ts';
import { HOUR_MICROS, listHours, type ReceiverHour } from '../core/webhooks/log/receiver-hours.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import { pageOf } from '../runtime/page.ts';
import type { Micros } from '../runtime/units.ts';
import { countPending, listOwners, type Owner, type PendingOf } from './receivers-repository.ts';

/** A receiver counts as slow when a delivery should have been sent this many microseconds ago, and was not. */
const SLOW_AFTER = 30_000_000;
/** The most receivers that the feed shows. */
const WATCHED = 200;

export const RECEIVER_STATES = ['healthy', 'retrying', 'slow', 'failing'] as const;
/** The hours whose attempts are shown. */
const HOURS = 24;

/** The two parts that identify a receiver: an application, and the setting that holds its URL. */
interface Name {
  applicationId: string;
  setting: WebhookSetting;
}

/** The state of a receiver; times in microseconds. */
export interface ReceiverState extends Name {
  url: string | null;
  applicationName: string;
  developerId: string;
  developerName: string;
  /**
   * `failing`: the last attempt failed. `slow`: a delivery should have been sent more than half a minute ago.
   * `retrying`: the last attempt succeeded, and deliveries that failed before wait for another attempt.
   */
  state: (typeof RECEIVER_STATES)[number];
  pending: number;
  oldestDueAt: Micros | null;
  failingSince: number | null;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: Micros | null;
  /** The attempts that ended in each of the last 24 hours, the oldest hour first; the last hour is not over. */
  hours: { since: Micros; delivered: number[]; failed: number[] };
}

interface Query {
  state?: ReceiverState['state'];
  developerId?: string;
  applicationId?: string;
  after?: string;
  limit: number;
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

/** What is known of a receiver. */
interface Known {
  waiting: PendingOf | undefined;
  failing: FailingReceiver | undefined;
  owner: Owner | undefined;
  hours: readonly ReceiverHour[];
  now: Micros;
}

function hoursOf(rows: readonly ReceiverHour[], now: Micros): ReceiverState['hours'] {
  const since = now - (now % HOUR_MICROS) - (HOURS - 1) * HOUR_MICROS;
  const [delivered, failed] = [Array<number>(HOURS).fill(0), Array<number>(HOURS).fill(0)];
  for (const row of rows) {
    const index = (row.hour - since) / HOUR_MICROS;
    if (index < 0 || index >= HOURS) continue;
    delivered[index] = row.delivered;
    failed[index] = row.failed;
  }
  return { since, delivered, failed };
}

export type ReceiverStates = ReturnType<typeof createReceiverStates>;

/** The states of the receivers of all applications. A receiver has a URL, or pending deliveries, or both. */
export function createReceiverStates({ database: { aside }, clock, urls, remembered }: Parts) {
  function stateOf(name: Name, url: string | null, { waiting, failing, owner, hours, now }: Known): ReceiverState {
    const oldestDueAt = waiting && waiting.firstDueAt <= now ? waiting.firstDueAt : null;
    const isSlow = oldestDueAt !== null && now - oldestDueAt > SLOW_AFTER;
    return {
      applicationId: name.applicationId,
      setting: name.setting,
      applicationName: owner?.applicationName ?? name.applicationId,
      developerId: owner?.developerId ?? '',
      developerName: owner?.developerName ?? '',
      url,
      // A new delivery is due at once, so one that is due later has failed before.
      state: failing ? 'failing' : isSlow ? 'slow' : (waiting?.nextDueAt ?? null) === null ? 'healthy' : 'retrying',
      pending: waiting?.pending ?? 0,
      oldestDueAt,
      failingSince: failing?.since ?? null,
      lastStatusCode: failing?.statusCode ?? null,
      lastError: failing?.error ?? null,
      nextAttemptAt: waiting?.nextDueAt ?? null,
      hours: hoursOf(hours, now),
    };
  }

  async function look(): Promise<ReceiverState[]> {
    const now = clock.now();
    const [applications, waiting, failing, owners, hours] = await Promise.all([
      urls(),
      countPending(aside, now),
      listFailing(aside),
      listOwners(aside),
      listHours(aside, now - HOURS * HOUR_MICROS),
    ]);
    const [waits, fails] = [byKey(waiting), byKey(failing)];
    const ownerOf = new Map(owners.map((owner) => [owner.applicationId, owner]));
    const hoursBy = Map.groupBy(hours, keyOf);
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
        stateOf(name, urlOf.get(key) ?? null, {
          waiting: waits.get(key),
          failing: fails.get(key),
          owner: ownerOf.get(name.applicationId),
          hours: hoursBy.get(key) ?? [],
          now,
        }),
      );
  }

  const all = (): Promise<ReceiverState[]> => remembered('receivers', look);

  return {
    /**
     * Lists a page of receivers in one state, or in any, and of one customer, or of all, in the order of application and
     * setting; `after` is the key of the last receiver of the page before.
     */
    async list({ state, developerId, applicationId, after = '', limit }: Query) {
      const left = (await all()).filter(
        (row) =>
          keyOf(row) > after &&
          (state === undefined || row.state === state) &&
          (developerId === undefined || row.developerId === developerId) &&
          (applicationId === undefined || row.applicationId === applicationId),
      );
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
