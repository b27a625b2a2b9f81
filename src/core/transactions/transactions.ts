import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { DeviceOwnership } from '../../platform/cluster/peers.ts';
import type { Database } from '../../platform/database/sql.ts';
import { createBulkThrottle } from '../../runtime/bulk-throttle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { HeldRollouts } from '../../runtime/held-rollouts.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Tracing } from '../../runtime/tracing.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { Applications } from '../applications/applications.ts';
import { createOutbox } from '../outbox/outbox.ts';
import type { Software } from '../software/software.ts';
import { createDeliveryMarks } from './delivery-marks.ts';
import { createDemand } from './demand.ts';
import {
  claimCancel,
  claimReleased,
  countAttempt,
  dueCancels,
  findDue,
  firstDue,
  unfinishedOfRollouts,
} from './due-repository.ts';
import type { OnLate } from './early-ends.ts';
import type { OnFinished } from './ends.ts';
import { createExpiry } from './expiry.ts';
import { createIdempotency } from './idempotency.ts';
import { createInstallation } from './installation.ts';
import { createRequestCheck } from './request-check.ts';
import { createSettlement } from './settlement.ts';
import { createSubmission } from './submission.ts';
import {
  findTransaction,
  listTransactions,
  type TransactionFilter,
  type TransactionRecord,
} from './transaction-repository.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  watch: Watch;
  tracing: Tracing;
  /** Functions that add statements to the commits in which transactions end. */
  onFinished: readonly OnFinished[];
  /** Functions that add statements to the commits that keep late results. */
  onLate: readonly OnLate[];
  findApplication: Applications['findIn'];
  lockApplication: Applications['lockIn'];
  installs: Software['installs'];
  ownership: Pick<DeviceOwnership, 'look' | 'wake' | 'lost'>;
  /** The rollouts whose undelivered commands must not be published. */
  held: Pick<HeldRollouts, 'isHeld' | 'waits'>;
  /** Called after a claim that has passed over a command of a rollout, because it is held. */
  heldBack(rolloutId: string, deviceId: string): void;
  /** True on the one node that ends the transactions whose time has passed. */
  leads(): boolean;
  /** Whether the clock is believed; else no transaction expires. */
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved' | 'latest'>;
}

export type Transactions = ReturnType<typeof createTransactions>;

/** Transactions from submission to result, and the outbox that sends them to the devices. */
export function createTransactions({
  database,
  clock,
  ids,
  log,
  metrics,
  watch,
  tracing,
  onFinished,
  onLate,
  findApplication,
  lockApplication,
  installs,
  ownership,
  held,
  heldBack,
  leads,
  trust,
}: Parts) {
  const marks = createDeliveryMarks({ database, clock, log, watch, endsAt: (at) => expiry.expect(at) });
  const installation = createInstallation({
    database,
    log,
    installs,
    findApplication,
    fail: (deviceId, transactionId, failure) => settlement.fail(deviceId, transactionId, failure),
  });
  const demand = createDemand();
  const throttle = createBulkThrottle(demand.perSecond);
  const outbox = createOutbox({
    database,
    clock,
    log,
    metrics,
    watch,
    tracing,
    findDue,
    firstDue,
    countAttempt,
    claimCancel,
    dueCancels,
    unfinishedOfRollouts,
    claimReleased,
    heldBack,
    storePubacks: marks.storeOf,
    ownership,
    prepare: installation.prepare,
    held,
    delivered: marks.delivered,
    cancelDelivered: marks.cancelDelivered,
  });
  const settlement = createSettlement({
    database,
    clock,
    metrics,
    watch,
    tracing,
    marks,
    onFinished,
    onLate,
    cancelled: outbox.cancelled,
    answered: outbox.answered,
    dueAt: (at) => expiry.expect(at),
  });
  const expiry = createExpiry({ database, clock, log, metrics, leads, trust, throttle, expireIn: settlement.expireIn });

  return {
    submit: createSubmission({
      database,
      clock,
      ids,
      metrics,
      watch,
      tracing,
      outbox,
      demand,
      findApplication,
      lockApplication,
      installation,
      supersedeIn: settlement.supersedeIn,
      dueAt: expiry.expect,
    }),
    /** Checks a request before its devices are known. */
    check: createRequestCheck({ database, findApplication, installation }),
    /** The recent rate of submitted commands, per second. */
    demand: demand.perSecond,
    /** Makes room for single calls, between two pieces of work for many devices. */
    throttle,
    /** Carries out a request with an Idempotency-Key once, and returns its first answer to each repetition. */
    once: createIdempotency({ database, clock, metrics, trust }).once,
    settle: settlement.settle,
    ending: settlement.ending,
    cancel: settlement.cancel,
    cancelIn: settlement.cancelIn,
    withdrawIn: settlement.withdrawIn,
    supersedeQueuedIn: settlement.supersedeQueuedIn,
    /** Ends every transaction of a device that the administration removes, and its activation. */
    endAll: settlement.endAll,
    /** Ends the activation and the transactions of a device that is activated anew, for another application. */
    releaseIn: settlement.releaseIn,
    cancelOf: settlement.cancelOf,
    /** Makes a fresh download URL for a device that is installing software. */
    freshUrl: installation.freshUrl,
    /** Call this when a device has connected and subscribed to its commands, so that they are sent. */
    open: outbox.open,
    /** Called when another node has stored a command, or a cancel, for a device that is connected here. */
    wake: outbox.wake,
    found: outbox.found,
    /** Lets a held command of a device be published, in the unit of work after which it may be. */
    letGo: outbox.letGo,
    /** Call this after the commit that lets a rollout publish its commands again. */
    released: outbox.released,
    oldestInFlight: outbox.oldestInFlight,
    /** They find commands, and ends of commands, that are due and moved by nobody. */
    slowLooks: [outbox.slowLook, expiry.slowLook],

    /** Finds a transaction. Throws TRANSACTION_NOT_FOUND unless it belongs to this device and this application. */
    async find(applicationId: string, deviceId: string, transactionId: number): Promise<TransactionRecord> {
      const record = await findTransaction(database.read, transactionId);
      if (record?.deviceId !== deviceId || record.applicationId !== applicationId) {
        throw new DomainError('TRANSACTION_NOT_FOUND');
      }
      return record;
    },

    list: (applicationId: string, deviceId: string, filter: TransactionFilter) =>
      listTransactions(database.read, deviceId, applicationId, filter),

    /** Ends the transactions whose time has passed, from now on. */
    start: expiry.start,

    /** Resolves when nothing is in progress: whatever remains waits for a caller, for a device or for the clock. */
    async idle(): Promise<void> {
      await expiry.idle();
      await outbox.idle();
      await marks.flush();
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await expiry.stop();
      await outbox[Symbol.asyncDispose]();
      await outbox.idle();
      await marks.flush();
    },
  };
}
