import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { insertAttempt, listFailing, saveFailing } from './attempt-repository.ts';
import type { ReceiverName } from './delivery.ts';
import type { Outcome } from './delivery-repository.ts';
import { type EndpointEvents, FAILING_FOR } from './endpoint-events.ts';

/** What is known of an attempt that failed, beside its outcome. */
export interface Failure {
  error: string;
  /** Microseconds. */
  duration: number;
  /** How the answer began; null when there was none, or there were too many. */
  answer: string | null;
}

interface Parts {
  database: Database;
  endpoints: EndpointEvents;
}

interface Concluded extends Outcome {
  receiver: ReceiverName;
  /** Undefined: it was good. */
  failure: Failure | undefined;
}

const keyOf = ({ applicationId, setting }: ReceiverName): string => `${applicationId} ${setting}`;

/**
 * Keeps what came of failed attempts, and which receivers fail, also over a restart: in the unit of work that writes the outcomes. A
 * good one has nothing to write, unless its receiver failed before.
 */
export function createFailures({ database, endpoints }: Parts) {
  /** Receivers that have a row, at least, and since when they fail. */
  const failing = new Map<string, number>();

  async function saveState(unit: UnitOfWork, { receiver, failure, statusCode, at, status }: Concluded): Promise<void> {
    const key = keyOf(receiver);
    const { applicationId, setting } = receiver;
    const since = failing.get(key);
    if (failure) {
      if (since === undefined) failing.set(key, at);
      await saveFailing(unit, { applicationId, setting, since: at, failedAt: at, statusCode, error: failure.error });
      const isLong = since !== undefined && at - since >= FAILING_FOR;
      if (isLong || status !== 'pending') await endpoints.failing(unit, receiver);
    } else if (since !== undefined) {
      failing.delete(key);
      unit.onRollback(() => failing.set(key, since));
      await endpoints.recovered(unit, receiver);
    }
  }

  return {
    /** Learns which receivers fail: of those that another process had, too. */
    async load(): Promise<void> {
      for (const receiver of await listFailing(database.read)) failing.set(keyOf(receiver), receiver.since);
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
