import type { Clock } from '../clock.ts';
import type { Database, UnitOfWork } from '../database/sql.ts';
import type { Metrics } from '../metrics.ts';
import { createTokenBuckets } from '../token-buckets.ts';
import { insertAttempt, listFailing, removeFailing, saveFailing } from './attempt-repository.ts';
import type { ReceiverName } from './delivery.ts';
import type { Outcome } from './delivery-repository.ts';

/** What is known of an attempt that failed, beside its outcome. */
export interface Failure {
  error: string;
  /** Microseconds. */
  duration: number;
  /** How the answer began; null when there was none, or there were too many. */
  answer: string | null;
}

/** Bytes of answers that are kept for an application at once, and as many more a day: its receivers decide how long they are. */
export const ANSWER_BYTES = 4 * 1024 * 1024;
const DAY_SECONDS = 86_400;

interface Parts {
  database: Database;
  clock: Clock;
  metrics: Pick<Metrics, 'answersDropped'>;
}

interface Concluded extends Outcome {
  receiver: ReceiverName;
  /** Undefined: it was good. */
  failure: Failure | undefined;
}

const keyOf = ({ applicationId, setting }: ReceiverName): string => `${applicationId} ${setting}`;

/** Bytes of an answer as text: what is no UTF-8 becomes U+FFFD, and a character that was cut at the end is left out. */
export const textOf = (bytes: Buffer | undefined): string | null =>
  bytes === undefined ? null : new TextDecoder().decode(bytes, { stream: true });

/**
 * Keeps what came of failed attempts, and which receivers fail, also over a restart: in the unit of work that writes the outcomes. A
 * good one has nothing to write, unless its receiver failed before.
 */
export function createFailures({ database, clock, metrics }: Parts) {
  const room = createTokenBuckets({ clock, perSecond: ANSWER_BYTES / DAY_SECONDS, size: ANSWER_BYTES });
  /** Receivers that have a row, at least. */
  const failing = new Set<string>();

  async function saveState(unit: UnitOfWork, { receiver, failure, statusCode, at }: Concluded): Promise<void> {
    const key = keyOf(receiver);
    const { applicationId, setting } = receiver;
    if (failure) {
      failing.add(key);
      await saveFailing(unit, { applicationId, setting, since: at, failedAt: at, statusCode, error: failure.error });
    } else if (failing.delete(key)) {
      unit.onRollback(() => failing.add(key));
      await removeFailing(unit, receiver);
    }
  }

  return {
    /** How an answer began, as text, while its application has room for it. */
    keep({ applicationId }: ReceiverName, beginning: Buffer | undefined): string | null {
      if (beginning === undefined || room.take(applicationId, beginning.length)?.allowed !== false)
        return textOf(beginning);
      metrics.answersDropped.inc();
      return null;
    },

    /** Learns which receivers fail: of those that another process had, too. */
    async load(): Promise<void> {
      for (const receiver of await listFailing(database.read)) failing.add(keyOf(receiver));
    },

    /** Outcomes in the order in which they came. */
    write(unit: UnitOfWork, batch: readonly Concluded[]): Promise<void>[] | undefined {
      if (failing.size === 0 && batch.every(({ failure }) => !failure)) return undefined;
      const last = new Map(batch.map((outcome) => [keyOf(outcome.receiver), outcome]));
      const attempts = batch.map(async (outcome) => {
        const { failure, attempts: attempt, at, statusCode } = outcome;
        if (failure) await insertAttempt(unit, outcome, { ...failure, attempt, at, statusCode });
      });
      return [...attempts, ...[...last.values()].map((outcome) => saveState(unit, outcome))];
    },
  };
}
