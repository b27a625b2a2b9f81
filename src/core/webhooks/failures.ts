import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import { byKey, type Outcome, type SettingReceiver } from './delivery.ts';
import { type EndpointEvents, FAILING_FOR_MICROS } from './endpoint-events.ts';
import { insertAttempt, listFailing, saveFailing } from './log/attempt-repository.ts';

/** The details of a failed attempt that are not a part of its Outcome. */
export interface Failure {
  error: string;
  /** The time that the attempt took, in microseconds. */
  duration: number;
  /** The beginning of the answer; null when there was none, or the bound of stored answers was reached. */
  answer: string | null;
}

interface Parts {
  database: Database;
  endpoints: EndpointEvents;
}

/** The outcome of an attempt for the URL of a setting. */
interface Concluded extends Omit<Outcome, 'setting'>, SettingReceiver {
  /** Undefined when the attempt succeeded. */
  failure: Failure | undefined;
}

const keyOf = ({ applicationId, setting }: SettingReceiver): string => `${applicationId} ${setting}`;

/**
 * Stores failed attempts, and which receivers fail, so that both survive a restart. It does so in the unit of work that
 * stores the outcomes. A successful attempt needs no row, unless its receiver failed before.
 */
export function createFailures({ database, endpoints }: Parts) {
  /**
   * Receivers that have a row in the table of failing receivers, with the time of their first failure. After a rollback
   * the map may also have receivers without a row.
   */
  const failing = new Map<string, number>();

  async function saveState(unit: UnitOfWork, outcome: Concluded): Promise<void> {
    const { applicationId, setting, failure, statusCode, at, status } = outcome;
    const receiver = { applicationId, setting };
    const key = keyOf(receiver);
    const since = failing.get(key);
    if (failure) {
      if (since === undefined) failing.set(key, at);
      await saveFailing(unit, { applicationId, setting, since: at, failedAt: at, statusCode, error: failure.error });
      const isLong = since !== undefined && at - since >= FAILING_FOR_MICROS;
      if (isLong || status !== 'pending') await endpoints.failing(unit, receiver);
    } else if (since !== undefined) {
      failing.delete(key);
      unit.onRollback(() => failing.set(key, since));
      await endpoints.recovered(unit, receiver);
    }
  }

  return {
    /** Reads the failing receivers, including those that another process has stored. */
    async load(): Promise<void> {
      for (const receiver of await listFailing(database.read)) failing.set(keyOf(receiver), receiver.since);
    },

    /**
     * Stores the failures and recoveries of receivers in a batch of outcomes. The batch is in the order of the
     * attempts' ends, so the last outcome of a receiver decides.
     */
    write(unit: UnitOfWork, batch: readonly Concluded[]): Promise<void>[] | undefined {
      if (failing.size === 0 && batch.every(({ failure }) => !failure)) return undefined;
      const last = new Map(batch.map((outcome) => [keyOf(outcome), outcome]));
      const attempts = batch.toSorted(byKey).map(async (outcome) => {
        const { failure, attempts: attempt, at, statusCode, sent } = outcome;
        if (failure) await insertAttempt(unit, outcome, { ...failure, attempt, at, statusCode, sent });
      });
      return [...attempts, ...[...last.values()].map((outcome) => saveState(unit, outcome))];
    },
  };
}
