import type { Metrics } from '../../metrics.ts';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Database, Lock, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { currentTrace, type Tracing } from '../../runtime/tracing.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Watch } from '../../runtime/watch.ts';
import type { Application } from '../applications/application-repository.ts';
import type { Applications } from '../applications/applications.ts';
import { findDeveloper } from '../applications/developer-repository.ts';
import { holdActivation, requireActivatedDevice } from '../devices/activation.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { Obstacle } from '../software/installs.ts';
import type { Demand } from './demand.ts';
import { setTerms } from './expiry-repository.ts';
import type { Installation } from './installation.ts';
import { parametersOf, type Request, subjectOf } from './operations.ts';
import { createQueueBounds, type Freed } from './queue-bounds.ts';
import { type InstallRequest, isInstallRequest, requireReady, requireUploads } from './request-check.ts';
import { canExpire, endsAt, type StoredTerms, storedTerms, type Terms } from './terms.ts';
import {
  findParameters,
  insertTransaction,
  insertTransactionLater,
  LARGE_PARAMETERS,
  setRollout,
  sumLargeParametersOf,
  type TransactionRecord,
  unfinishedOf,
} from './transaction-repository.ts';

type Submission = Request & {
  applicationId: string;
  deviceId: string;
  terms?: Terms;
  /** The rollout that makes the transaction. */
  rolloutId?: string;
  /** True: its rollout holds the command, which is not published at the commit. */
  isHeld?: boolean;
  /**
   * Runs in the same unit of work before the rules of the operation are checked, when the developer and the application are
   * locked: for `activate` by the service itself, which no caller waits for.
   */
  before?: (unit: UnitOfWork) => Promise<void>;
};
type Installing = Submission & InstallRequest;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  metrics: Metrics;
  watch: Watch;
  tracing: Tracing;
  outbox: Pick<Outbox, 'reserve'>;
  demand: Pick<Demand, 'add'>;
  findApplication: Applications['findIn'];
  lockApplication: Applications['lockIn'];
  installation: Pick<Installation, 'obstacle' | 'admit'>;
  /** Ends older transactions of the device, whose place the new one takes. */
  supersedeIn(unit: UnitOfWork, records: readonly TransactionRecord[], by: number): Promise<void>;
  /** Called after the commit of a transaction that may have to be ended at this time, or later. */
  dueAt(at: Micros): void;
}

/** The older transactions whose place a new one takes. */
interface Older {
  records: readonly TransactionRecord[];
  freed: Freed;
}

const NO_OLDER: Older = { records: [], freed: { number: 0, largeCharacters: 0 } };

type Owner = Pick<Application, 'applicationId' | 'developerId' | 'settings'>;

/** Stores a caller's request as a transaction. When the promise resolves, it is on the disk. */
export function createSubmission({
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
  supersedeIn,
  dueAt,
}: Parts) {
  const requireRoom = createQueueBounds(metrics, database.shared);

  /** Locks the rows, besides that of the device, that the decision depends on: the developer, then the application. */
  async function lockOwner(unit: UnitOfWork, { applicationId, operation }: Submission) {
    const { developerId } = await findApplication(unit, applicationId); // an application's developer never changes
    const [developer, application] = await inOneGo(
      operation === 'activate' ? findDeveloper(unit, developerId, unit.forUpdate) : undefined,
      lockApplication(unit, applicationId),
    );
    if (operation === 'activate' && !developer) throw new Error(`developer ${developerId} is not registered`);
    return { application, developer };
  }

  /**
   * Checks the rules of the operation. A unit of work that was begun without the deviceId as its key passes `lock`, so
   * that the device is locked here.
   */
  async function admit(
    unit: UnitOfWork,
    submission: Submission,
    owner: Owner,
    { lock, obstacle }: { lock: Lock; obstacle: Obstacle | undefined },
  ): Promise<void> {
    await requireActivatedDevice(unit, submission.deviceId, owner, lock);
    requireUploads(owner, submission.operation);
    if (!isInstallRequest(submission)) return;
    const { operation, asked } = submission;
    await installation.admit(unit, operation, asked, owner.developerId, obstacle, submission.deviceId);
  }

  /**
   * Waits for the checks of the operation's rules (`admitted`) and checks the bounds of queues; each throws if it
   * refuses the command. If the device is connected and its connection has room, reserves room there, so that the
   * command is sent at the commit.
   */
  async function takePlace(
    unit: UnitOfWork,
    admitted: Promise<void>,
    wanted: Parameters<typeof requireRoom>[1],
    { isCalled, isHeld }: { isCalled: boolean; isHeld: boolean },
  ) {
    const waits = isHeld || wanted.freed.number > 0;
    const reserve = () => outbox.reserve(unit, wanted.deviceId, { waits, isCalled });
    if (database.roundTrips) {
      // A unit that locks the device itself has sent that statement first.
      const [, , slot] = await inOneGo(admitted, requireRoom(unit, wanted), reserve());
      return slot;
    }
    await admitted;
    await requireRoom(unit, wanted);
    return reserve();
  }

  /**
   * Finds the application's older unfinished transactions of the same operation for the device; for an install, those
   * of the same package. The unit has locked the device.
   */
  async function olderOf(unit: UnitOfWork, submission: Submission): Promise<Older> {
    const { applicationId, deviceId, operation } = submission;
    const unfinished = await unfinishedOf(unit, deviceId, applicationId);
    let records = unfinished.filter((record) => record.operation === operation);
    if (isInstallRequest(submission)) {
      const installs = await inOneGo(...records.map(({ transactionId }) => findParameters(unit, transactionId)));
      const isSame = (index: number): boolean =>
        (installs[index] as { package?: string }).package === submission.asked.package;
      records = records.filter((_, index) => isSame(index));
    }
    const largeCharacters = records.length === 0 ? 0 : await sumLargeParametersOf(unit, submission);
    return { records, freed: { number: records.length, largeCharacters } };
  }

  /**
   * Asks the object store for a binary of the caller's own developer only; otherwise the time that it takes would
   * reveal the packages of others.
   */
  async function lookForBinary({ applicationId, operation, asked }: Installing): Promise<Obstacle | undefined> {
    const { developerId } = await findApplication(database.read, applicationId);
    return installation.obstacle(operation, asked, developerId);
  }

  function keepTerms(unit: UnitOfWork, transactionId: number, stored: StoredTerms): void {
    const at = endsAt({ ...stored, status: 'queued', deliveredAt: null });
    setTerms(unit, transactionId, stored, at);
    if (at !== null) unit.onCommit(() => dueAt(at));
  }

  /**
   * Returns the transactionId. Throws APPLICATION_UNREGISTERED, KEY_NOT_ISSUED, NOTIFICATION_NOT_CONFIGURED (Events table:
   * without deviceEvent, operations that create transactions are unavailable), UPLOADS_NOT_CONFIGURED, TOO_MANY_TRANSACTIONS,
   * TOO_MUCH_QUEUED, and the
   * errors of the operation's rules (ops 5, 6, 10, 11, 28).
   * `also` runs in the same unit of work, after the transaction was stored.
   */
  return async function submit(
    submission: Submission,
    also?: (unit: UnitOfWork, transactionId: number) => Promise<void>,
  ): Promise<number> {
    const { applicationId, deviceId, operation, terms = {}, rolloutId = null, before, isHeld = false } = submission;
    const isAsked = rolloutId === null && !before;
    if (isAsked) demand.add();
    // Read before the unit of work, which may run for several requests. A rollout belongs to no request.
    const traceparent = isAsked ? currentTrace() : null;
    const obstacle = isInstallRequest(submission) ? await lookForBinary(submission) : undefined;
    const parameters = parametersOf(submission, {
      applicationId,
      newClientId: ids.uuid,
      revertAfter: terms.revertAfter,
    });
    const text = JSON.stringify(parameters);
    const subject = subjectOf(operation, parameters);
    // The contract, client identifiers, the sum of large parameters and the counts of a rollout (also of one whose
    // command is superseded) concern many devices. A unit that decides on them is begun without a deviceId as its key,
    // and locks rows instead.
    const isAlone =
      operation === 'activate' ||
      database.read.vault.lengthOf(text) > LARGE_PARAMETERS ||
      (database.sideBySide && (rolloutId !== null || terms.supersede === true));

    /** Returns a function that gives the transactionId after the commit. */
    async function submitIn(unit: UnitOfWork): Promise<() => number> {
      const { application, developer } = isAlone
        ? await lockOwner(unit, submission)
        : { application: await findApplication(unit, applicationId), developer: undefined };
      requireReady(application);
      await before?.(unit);
      const lock = isAlone ? unit.forUpdate : '';
      const admitted = developer
        ? holdActivation(
            unit,
            { deviceId, applicationId, clientId: (parameters as { clientId: string }).clientId },
            developer,
            clock.now(),
          )
        : admit(unit, submission, application, { lock, obstacle });
      const older = terms.supersede ? await admitted.then(() => olderOf(unit, submission)) : NO_OLDER;
      const wanted = { applicationId, deviceId, operation, text, freed: older.freed };
      const slot = await takePlace(unit, admitted, wanted, { isCalled: rolloutId === null, isHeld });
      const createdAt = clock.now();
      const attempts = slot ? 1 : 0;
      const transaction = { deviceId, applicationId, operation, attempts, createdAt, traceparent };
      const shown = { ...transaction, publishedAt: slot ? createdAt : null, subject };
      const stored = storedTerms(terms, createdAt);
      let transactionId = 0;
      const inserted = (assigned: number): void => {
        transactionId = assigned;
        slot?.send({
          ...transaction,
          transactionId,
          parameters,
          status: 'queued',
          updatedAt: createdAt,
          answerWithin: stored.answerWithin,
          expiresAt: stored.expiresAt,
          rolloutId,
        });
      };
      if (canExpire(stored) || rolloutId !== null || older.records.length > 0 || also) {
        inserted(await insertTransaction(unit, shown, text));
        if (canExpire(stored)) keepTerms(unit, transactionId, stored);
        if (rolloutId !== null) setRollout(unit, transactionId, rolloutId);
        if (older.records.length > 0) await supersedeIn(unit, older.records, transactionId);
        await also?.(unit, transactionId);
      } else insertTransactionLater(unit, shown, text, inserted);
      const commit = tracing.below(traceparent, 'commit', { kind: 'internal' });
      unit.onCommit(() => {
        commit?.end();
        metrics.transactionsCreated.inc({ operation });
        if (watch.transactions > 0) watch.transaction(transactionId);
      });
      return () => transactionId;
    }

    const idOf = await (isAlone
      ? database.transact(submitIn, { about: deviceId })
      : database.transact(submitIn, { device: deviceId }));
    return idOf();
  };
}
