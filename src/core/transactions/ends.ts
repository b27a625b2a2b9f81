import type { Metrics } from '../../metrics.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Watch } from '../../runtime/watch.ts';
import { completeActivation, releaseActivation } from '../devices/activation.ts';
import type { Device } from '../devices/device-repository.ts';
import type { createDeliveryMarks } from './delivery-marks.ts';
import { setEarlyEnd, setEndsAt } from './expiry-repository.ts';
import { type Effect, effectsOf } from './operations.ts';
import { canExpire } from './terms.ts';
import { type FinishedStatus, isFinished } from './transaction.ts';
import {
  findTransaction,
  insertTransaction,
  type TransactionRecord,
  unfinishedOf,
  updateTransaction,
} from './transaction-repository.ts';

/** A transaction in a final state. */
export type Finished = TransactionRecord & {
  status: FinishedStatus;
  /** The parameters of a command that gave the device settings: the transaction loses them in this commit. */
  settings?: object;
};

/**
 * Adds statements to the commit in which a transaction ends. `written` resolves when those that somebody waits for are
 * done; until then, statements of other such functions may be sent with them. `deliveryId` is the webhook that reports the result; it is
 * stored with the transaction.
 */
export type OnFinished = (unit: UnitOfWork, finished: Finished) => { written?: Promise<unknown>; deliveryId?: string };

/** A device whose activation ends with all its transactions. */
export type ActivatedDevice = Pick<Device, 'deviceId' | 'activation' | 'applicationId'>;

export interface EndParts {
  clock: Clock;
  metrics: Metrics;
  watch: Watch;
  marks: ReturnType<typeof createDeliveryMarks>;
  /** Called, in this order, in the unit of work of each transaction that ends. */
  onFinished: readonly OnFinished[];
  /**
   * Called when a transaction that the device may have received was cancelled, so that a cancel must be sent to the
   * device.
   */
  cancelled(unit: UnitOfWork, deviceId: string, transactionId: number): Promise<void>;
}

/** The most transactions that are cancelled together, by statements that each change many rows. */
const CANCELLED_AT_ONCE = 256;

/**
 * Ends transactions inside of units of work that have locked their device. The end is one commit: the new status, its
 * effects (such as the activation of the device) and the webhook with the result.
 */
export function createEnds({ clock, metrics, watch, marks, onFinished, cancelled }: EndParts) {
  const effects: Record<Effect, (unit: UnitOfWork, record: TransactionRecord) => Promise<void>> = {
    completeActivation: (unit, { deviceId }) => completeActivation(unit, deviceId),
    releaseActivation: (unit, { deviceId }) => releaseActivation(unit, deviceId),
    async cancelOthers(unit, { transactionId, deviceId, applicationId }) {
      const unfinished = await unfinishedOf(unit, deviceId, applicationId);
      await cancelAllIn(
        unit,
        unfinished.filter((other) => other.transactionId !== transactionId),
      );
    },
  };

  /** Stores the end of a transaction. `due` says whether a cancel must be sent to the device. */
  async function finishIn(unit: UnitOfWork, record: TransactionRecord, due: boolean, settings?: object): Promise<void> {
    const { transactionId, operation, status } = record;
    if (!isFinished(status)) throw new Error(`transaction ${transactionId} is not finished: ${status}`);
    const finished: Finished = { ...record, status, ...(settings && { settings }) };
    for (const effect of effectsOf(operation, status)) await effects[effect](unit, finished);
    const taken = onFinished.map((take) => {
      const one = take(unit, finished);
      // If another one, or a statement below, fails at once, nobody waits for this promise any more. Its rejection would then
      // end the service.
      one.written?.catch(() => undefined);
      return one;
    });
    for (const { deliveryId } of taken) if (deliveryId !== undefined) finished.deliveryId = deliveryId;
    updateTransaction(unit, finished, due);
    if (finished.endedEarly) setEarlyEnd(unit, transactionId, finished.supersededBy);
    else if (canExpire(finished)) setEndsAt(unit, transactionId, null);
    await Promise.all(taken.flatMap(({ written }) => written ?? []));
    unit.onCommit(() => {
      metrics.transactionsFinished.inc({ operation, status });
      if (watch.transactions > 0) watch.transaction(transactionId);
    });
  }

  /**
   * Ends an unfinished transaction without an answer of the device. If its command was never published, it is not sent
   * any more; if the device may have received it, a cancel is sent to the device.
   */
  async function stopIn(
    unit: UnitOfWork,
    record: TransactionRecord,
    end: Pick<TransactionRecord, 'status'> & Partial<TransactionRecord>,
  ): Promise<void> {
    const now = clock.now();
    const stopped: TransactionRecord = {
      ...record,
      deliveredAt: marks.firstOf(unit, record),
      updatedAt: now,
      completedAt: now,
      ...end,
    };
    const mayHaveArrived = record.attempts > 0;
    await finishIn(unit, stopped, mayHaveArrived);
    if (mayHaveArrived) await cancelled(unit, record.deviceId, record.transactionId);
  }

  const cancelIn = (unit: UnitOfWork, record: TransactionRecord): Promise<void> =>
    stopIn(unit, record, { status: 'cancelled', endedEarly: record.attempts > 0 });

  /** Cancels many transactions of one device, in few round trips. */
  async function cancelAllIn(
    unit: UnitOfWork,
    records: readonly TransactionRecord[],
    cancel: (record: TransactionRecord) => Promise<void> = (record) => cancelIn(unit, record),
  ): Promise<void> {
    for (let from = 0; from < records.length; from += CANCELLED_AT_ONCE)
      await inOneGo(...records.slice(from, from + CANCELLED_AT_ONCE).map(cancel));
  }

  /**
   * Stores a deactivation that counts as succeeded at once, because the device is removed and not asked. Like every
   * transaction it is stored under the device's lock.
   */
  async function deactivateIn(unit: UnitOfWork, deviceId: string, applicationId: string): Promise<void> {
    const now = clock.now();
    const operation = 'deactivate';
    const unsent = { attempts: 0, publishedAt: null, subject: null, traceparent: null };
    const stored = { deviceId, applicationId, operation, createdAt: now, ...unsent } as const;
    const transactionId = await insertTransaction(unit, stored, JSON.stringify({ applicationId }));
    const record = await findTransaction(unit, transactionId);
    if (!record) throw new Error(`transaction ${transactionId} was not stored`);
    const result = { by: 'administration' };
    await finishIn(unit, { ...record, status: 'succeeded', updatedAt: now, completedAt: now, result }, false);
    unit.onCommit(() => metrics.transactionsCreated.inc({ operation }));
  }

  /**
   * Ends the activation and all unfinished transactions of a device that the unit has locked. The applications are notified,
   * and the device gets the cancels of commands that it may have received.
   */
  async function releaseIn(unit: UnitOfWork, { deviceId, activation, applicationId }: ActivatedDevice): Promise<void> {
    if (activation === 'activated' && applicationId !== null) await deactivateIn(unit, deviceId, applicationId);
    await cancelAllIn(unit, await unfinishedOf(unit, deviceId));
  }

  return { finishIn, stopIn, cancelIn, cancelAllIn, releaseIn };
}
