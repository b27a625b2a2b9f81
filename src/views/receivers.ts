import { type FailingReceiver, listFailing } from '../core/webhooks/attempt-repository.ts';
import type { WebhookSetting } from '../platform/contracts/types.ts';
import { WEBHOOK_SETTINGS } from '../platform/contracts/values.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import { countPending, type PendingOf } from './receivers-repository.ts';

/** Microseconds: what is due for longer says that its receiver does not keep pace. */
const PACE = 30_000_000;
/** Receivers in a feed at most. */
const WATCHED = 200;

export const RECEIVER_STATES = ['healthy', 'slow', 'failing'] as const;

/** Times in microseconds. */
interface Name {
  applicationId: string;
  setting: WebhookSetting;
}

export interface ReceiverState extends Name {
  url: string | null;
  /** `failing`: its last attempt failed. `slow`: what is due for it waits for longer than half a minute. */
  state: (typeof RECEIVER_STATES)[number];
  pending: number;
  oldestDueAt: number | null;
  failingSince: number | null;
  lastStatusCode: number | null;
  lastError: string | null;
  nextAttemptAt: number | null;
}

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
  /** Where the webhooks of each application go. */
  urls(): Promise<{ applicationId: string; settings: Record<WebhookSetting, string | null> }[]>;
  /** Answers to questions, kept for a while. */
  remembered<Result>(question: string, ask: () => Promise<Result>): Promise<Result>;
}

const keyOf = ({ applicationId, setting }: { applicationId: string; setting: string }): string =>
  `${applicationId} ${setting}`;
const byKey = <Row extends { applicationId: string; setting: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [keyOf(row), row]));

export type ReceiverStates = ReturnType<typeof createReceiverStates>;

/** How the receivers of all applications do: those that have a URL, or something that waits for them. */
export function createReceiverStates({ database: { aside }, clock, urls, remembered }: Parts) {
  function stateOf(
    name: Name,
    url: string | null,
    { waiting, failing, now }: { waiting: PendingOf | undefined; failing: FailingReceiver | undefined; now: number },
  ): ReceiverState {
    const oldestDueAt = waiting && waiting.firstDueAt <= now ? waiting.firstDueAt : null;
    const isSlow = oldestDueAt !== null && now - oldestDueAt > PACE;
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
    for (const name of waiting) names.set(keyOf(name), name); // also of applications that are deleted
    return [...names]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, name]) =>
        stateOf(name, urlOf.get(key) ?? null, { waiting: waits.get(key), failing: fails.get(key), now }),
      );
  }

  const all = (): Promise<ReceiverState[]> => remembered('receivers', look);

  return {
    /** A page by application and setting, behind a row; of one state, or all. */
    async list({ state, after = '', limit }: { state?: ReceiverState['state']; after?: string; limit: number }) {
      const left = (await all()).filter((row) => keyOf(row) > after && (state === undefined || row.state === state));
      const rows = left.slice(0, limit);
      const last = rows.at(-1);
      return { rows, next: left.length > rows.length && last ? keyOf(last) : undefined };
    },

    /** Those that are not well, or for which something waits: of one application, or of all, the first of them. */
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
