import { DomainError } from '@lapel/schemas/contracts/errors';
import { fenced } from '../../platform/cluster/fenced.ts';
import type { Fence } from '../../platform/cluster/ownership.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Span, Tracing } from '../../runtime/tracing.ts';
import type { Micros } from '../../runtime/units.ts';
import { findDevice } from '../devices/device-repository.ts';
import { messageAttributes } from '../outbox/message-attributes.ts';
import { type Acknowledgement, createEarlyEnds, NO_REASON, type OnLate } from './early-ends.ts';
import { type ActivatedDevice, createEnds, type EndParts } from './ends.ts';
import { setEndsAt } from './expiry-repository.ts';
import { effectsOf, isSetting, type Operation } from './operations.ts';
import { canExpire, endsAt, SUPERSEDED } from './terms.ts';
import { isFinished, nextStatus, type TransactionStatus } from './transaction.ts';
import {
  clearDue,
  findParameters,
  findTransaction,
  markUnpublished,
  type TransactionRecord,
  unfinishedOf,
  updateTransaction,
} from './transaction-repository.ts';

interface Parts extends EndParts {
  database: Database;
  tracing: Tracing;
  /** Called in the unit of work that keeps a result which came after the service had ended the transaction. */
  onLate: readonly OnLate[];
  /** Called after the commit of a transaction that may have to be ended at this time, or later. */
  dueAt(at: Micros): void;
  /** Called when the device has answered a transaction, and so has received its command; `isEnd`: it has no further answer. */
  answered(deviceId: string, transactionId: number, isEnd: boolean): void;
}

/** Whether the success of an operation changes the number of an application's activated devices. */
const changesActivation = (operation: Operation): boolean =>
  effectsOf(operation, 'succeeded').some((effect) => effect === 'completeActivation' || effect === 'releaseActivation');

/** Whether the end of a transaction changes numbers that many devices share. */
const needsAlone = ({ operation, rolloutId }: TransactionRecord, status: TransactionStatus): boolean =>
  (status === 'succeeded' && changesActivation(operation)) || (rolloutId !== null && isFinished(status));

/**
 * Moves transactions from one status to the next, in units of work under the lock of their device: by acknowledgements, and
 * by decisions of the application and of the service.
 */
export function createSettlement({
  database,
  clock,
  metrics,
  watch,
  tracing,
  marks,
  onFinished,
  answered,
  ...parts
}: Parts) {
  const { finishIn, stopIn, cancelIn, cancelAllIn, releaseIn } = createEnds({
    clock,
    metrics,
    watch,
    marks,
    onFinished,
    cancelled: parts.cancelled,
  });
  const early = createEarlyEnds({ clock, metrics, watch, marks, onLate: parts.onLate, stopIn });

  /** Stores the next time at which a transaction with terms may have to be ended. */
  function moveEndIn(unit: UnitOfWork, record: TransactionRecord): void {
    if (!canExpire(record)) return;
    const at = endsAt(record);
    setEndsAt(unit, record.transactionId, at);
    if (at !== null) unit.onCommit(() => parts.dueAt(at));
  }

  function spanOf(
    record: TransactionRecord,
    traceparent: string,
    { status }: Acknowledgement,
    startedAt: Micros,
  ): Span | undefined {
    const attributes = { ...messageAttributes(record), 'lapel.ack.status': status };
    return tracing.below(traceparent, 'acknowledge', { kind: 'consumer', startedAt, attributes });
  }

  /**
   * Applies an acknowledgement. Returns false and changes nothing if this unit of work was begun with the deviceId as
   * its key, and the acknowledgement needs one that was begun without a key (`isAlone`).
   */
  async function settleIn(
    unit: UnitOfWork,
    deviceId: string,
    ack: Acknowledgement,
    { isAlone, fence, startedAt }: { isAlone: boolean; fence: Fence | undefined; startedAt: Micros },
  ): Promise<boolean> {
    const found = await fenced(unit, fence, findTransaction(unit, ack.transactionId));
    if (found?.deviceId !== deviceId) throw new DomainError('TRANSACTION_NOT_FOUND');
    const status = nextStatus(found.status, ack.status);
    if (!isAlone && needsAlone(found, status ?? ack.status)) return false;
    const span = found.traceparent === null ? undefined : spanOf(found, found.traceparent, ack, startedAt);
    if (!span) {
      await applyIn(unit, found, ack, status);
      return true;
    }
    // The webhook that reports the result comes below the acknowledgement.
    await applyIn(unit, { ...found, traceparent: span.traceparent }, ack, status);
    const commit = tracing.below(span.traceparent, 'commit', { kind: 'internal' });
    unit.onCommit(() => {
      commit?.end();
      span.end();
    });
    return true;
  }

  /** Stores an acknowledgement, and the status that it leads to; null: the transaction has ended. */
  async function applyIn(
    unit: UnitOfWork,
    record: TransactionRecord,
    ack: Acknowledgement,
    status: TransactionStatus | null,
  ): Promise<void> {
    const { deviceId } = record;
    unit.onCommit(() => answered(deviceId, ack.transactionId, ack.status !== 'processing'));
    if (status === null) {
      await early.keepLateIn(unit, record, ack);
      return;
    }
    const now = clock.now();
    const receivedAt = marks.firstOf(unit, record);
    const error = ack.status === 'failed' ? { ...NO_REASON, ...ack.error } : undefined;
    const moved: TransactionRecord = {
      ...record,
      status,
      updatedAt: now,
      deliveredAt: receivedAt ?? now, // without a PUBACK, the answer shows that the command has arrived
      completedAt: isFinished(status) ? now : null,
      progress: ack.progress ?? record.progress,
      result: ack.result ?? record.result,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    };
    if (isFinished(status)) {
      const isTaken = status === 'succeeded' && isSetting(record.operation);
      const settings = isTaken ? await findParameters(unit, record.transactionId) : undefined;
      await finishIn(unit, moved, false, settings);
      const since = receivedAt ?? moved.publishedAt ?? moved.createdAt;
      unit.onCommit(() => metrics.stepSeconds.observe({ step: 'answered' }, (now - since) / 1_000_000));
      return;
    }
    updateTransaction(unit, moved, true);
    moveEndIn(unit, moved);
    unit.onCommit(() => {
      if (watch.transactions > 0) watch.transaction(ack.transactionId);
    });
  }

  /**
   * Runs a unit of work under the lock of a device. On several nodes, a change of an application's number of activated
   * devices, or of the counts of a rollout, needs a unit without a device's key: units with a key share commits, and two
   * commits that change several of these numbers could wait for each other. For such a change `work` returns false and
   * changes nothing; it is then called again with `isAlone`.
   */
  async function underLock(
    deviceId: string,
    work: (unit: UnitOfWork, isAlone: boolean) => Promise<boolean>,
  ): Promise<void> {
    if (await database.transact((unit) => work(unit, !database.sideBySide), { device: deviceId })) return;
    await database.transact(
      async (unit) => {
        await inOneGo(findDevice(unit, deviceId, unit.forUpdate), work(unit, true));
      },
      { about: deviceId },
    );
  }

  function settle(deviceId: string, ack: Acknowledgement, fence?: Fence): Promise<void> {
    const startedAt = clock.now();
    return underLock(deviceId, (unit, isAlone) => settleIn(unit, deviceId, ack, { isAlone, fence, startedAt }));
  }

  /**
   * On several nodes, by device: the acknowledgements of success in progress, which may change the device's activation.
   * Such an acknowledgement may need a second unit of work, which would run after the device's next messages.
   */
  const ending = new Map<string, Promise<unknown>>();
  function remember(deviceId: string, settled: Promise<void>): void {
    const end = Promise.allSettled([ending.get(deviceId), settled]).then(() => {
      if (ending.get(deviceId) === end) ending.delete(deviceId);
    });
    ending.set(deviceId, end);
  }

  return {
    /**
     * Applies a device's acknowledgement. One for a finished transaction changes nothing. Throws TRANSACTION_NOT_FOUND when the
     * device has no such transaction, and the error of `fence` when the device has a newer connection.
     */
    settle(deviceId: string, ack: Acknowledgement, fence?: Fence): Promise<void> {
      const settled = settle(deviceId, ack, fence);
      if (database.sideBySide && ack.status === 'succeeded') remember(deviceId, settled);
      return settled;
    },

    /**
     * Resolves when the device's acknowledgements in progress that may change its activation are applied. Later
     * messages that depend on the activation wait for this. Never rejects.
     */
    ending: (deviceId: string): Promise<unknown> | undefined => ending.get(deviceId),

    /**
     * Ends a transaction as failed that was about to be published, because the service found a reason not to send it. A
     * finished transaction is left as it is.
     */
    async fail(deviceId: string, transactionId: number, error: { code: string; message: string }): Promise<void> {
      await underLock(deviceId, async (unit, isAlone) => {
        const record = await findTransaction(unit, transactionId);
        if (!record || nextStatus(record.status, 'failed') === null) return true;
        if (!isAlone && needsAlone(record, 'failed')) return false;
        const now = clock.now();
        const attempts = Math.max(0, record.attempts - 1); // the last attempt was counted and will not be made
        const end = { status: 'failed', attempts, errorCode: error.code, errorMessage: error.message } as const;
        // If an earlier attempt was published, the device may be carrying out the command.
        if (attempts > 0) await stopIn(unit, record, { ...end, endedEarly: true });
        else await finishIn(unit, { ...record, ...end, updatedAt: now, completedAt: now }, false);
        await markUnpublished(unit, transactionId);
        return true;
      });
    },

    /**
     * Ends the activation and all unfinished transactions of a device that the administration removes, inside the unit
     * of work that has locked the device. The applications are notified: of the deactivation, and of every transaction
     * that is cancelled.
     */
    async endAll(unit: UnitOfWork, device: ActivatedDevice): Promise<void> {
      await releaseIn(unit, device);
      await clearDue(unit, device.deviceId);
    },

    releaseIn,

    /** Cancels all unfinished transactions of a device that the unit has locked. Returns their number. */
    async cancelOf(unit: UnitOfWork, deviceId: string): Promise<number> {
      const unfinished = await unfinishedOf(unit, deviceId);
      await cancelAllIn(unit, unfinished);
      return unfinished.length;
    },

    expireIn: early.expireIn,
    withdrawIn: early.withdrawIn,

    /** Ends older transactions of a device, whose place a new one takes, in the unit of work that stores the new one. */
    supersedeIn: (unit: UnitOfWork, records: readonly TransactionRecord[], by: number): Promise<void> =>
      cancelAllIn(unit, records, (record) => early.endIn(unit, record, SUPERSEDED, by)),

    /** Ends a queued transaction whose device the unit has locked, because a newer one took its place. */
    async supersedeQueuedIn(unit: UnitOfWork, transactionId: number, by: number | null): Promise<void> {
      const record = await findTransaction(unit, transactionId);
      if (record?.status === 'queued')
        await cancelAllIn(unit, [record], (one) => early.endIn(unit, one, SUPERSEDED, by));
    },

    /** Cancels a transaction whose device the unit has locked; one that has ended stays as it is. */
    async cancelIn(unit: UnitOfWork, transactionId: number): Promise<void> {
      const record = await findTransaction(unit, transactionId);
      if (record && !isFinished(record.status)) await cancelIn(unit, record);
    },

    /** Cancels on behalf of the application. Throws TRANSACTION_NOT_FOUND, TRANSACTION_FINISHED. */
    async cancel(applicationId: string, deviceId: string, transactionId: number): Promise<void> {
      await underLock(deviceId, async (unit, isAlone) => {
        const record = await findTransaction(unit, transactionId);
        if (record?.deviceId !== deviceId || record.applicationId !== applicationId) {
          throw new DomainError('TRANSACTION_NOT_FOUND');
        }
        if (isFinished(record.status)) throw new DomainError('TRANSACTION_FINISHED');
        if (!isAlone && needsAlone(record, 'cancelled')) return false;
        await cancelIn(unit, record);
        return true;
      });
    },
  };
}
