import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import type { DeviceSelector } from '@lapel/schemas/contracts/types';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { BulkThrottle } from '../../runtime/bulk-throttle.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Applications } from '../applications/applications.ts';
import { parametersOf, type Request, subjectOf } from '../transactions/operations.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { type Joining, MOST_DEVICES } from './joining.ts';
import type { Plan, Rollout, RolloutOperation } from './rollout.ts';
import { requireRoom } from './rollout-bound.ts';
import { findRollout, insertRollout } from './rollout-repository.ts';
import { shuffled } from './shuffle.ts';
import { stagesOf, type WrittenStage } from './stages.ts';
import type { Transitions } from './transitions.ts';

/** The errors of a version that can still be distributed before a rollout of it starts. */
const CAN_COME: readonly ErrorCode[] = ['DISTRIBUTION_NOT_STARTED', 'BINARY_MISSING', 'SIGNATURE_MISSING'];

/** Milliseconds for which a creation makes room for single calls: its own caller waits for a minute at most. */
const ROOM_MS = 30_000;

/** A rollout as an application asks for it. */
export interface WantedRollout extends Omit<Plan, 'stages' | 'accepted' | 'letPass' | 'since'> {
  selector: DeviceSelector;
  applicationId: string;
  developerId: string;
  label: string | null;
  operation: RolloutOperation;
  /** The body of the operation, checked by its schema. */
  asked: unknown;
  stages: readonly WrittenStage[];
}

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  metrics: Pick<Metrics, 'rolloutsCreated'>;
  transitions: Pick<Transitions, 'write'>;
  joining: Pick<Joining, 'find' | 'store'>;
  check: Transactions['check'];
  throttle: BulkThrottle;
  lockApplication: Applications['lockIn'];
  wake(rolloutId: string): void;
}

/** Makes the function that stores new rollouts. */
export function createCreation(parts: Parts) {
  const { database, clock, ids, metrics, transitions, joining, check, throttle, lockApplication, wake } = parts;

  /**
   * Stores a rollout with its devices, which are settled now. When the promise resolves, all of it is on the disk. `also`
   * runs in the unit of work after which the rollout exists. Throws REQUEST_INVALID, TOO_MANY_ROLLOUTS,
   * ROLLOUT_TOO_LARGE, APPLICATION_UNREGISTERED, and the errors of `check`; a version of a later start need not be distributed yet.
   */
  return async function create(
    wanted: WantedRollout,
    also?: (unit: UnitOfWork, rollout: Rollout) => Promise<void>,
  ): Promise<Rollout> {
    const { applicationId, label, operation, asked, selector, stages: written, ...rest } = wanted;
    const request = { operation, asked } as Request;
    stagesOf(written, 0);
    await check(applicationId, request).catch((error: unknown) => {
      const isLater = rest.startAt !== undefined && rest.startAt > clock.now();
      if (!isLater || !(error instanceof DomainError) || !CAN_COME.includes(error.code)) throw error;
    });
    await requireRoom(database.read, applicationId);
    const roomUntil = performance.now() + ROOM_MS;
    const makeRoom: BulkThrottle = async (began) => (performance.now() < roomUntil ? throttle(began) : undefined);
    const found = await joining.find(applicationId, selector, MOST_DEVICES + 1, makeRoom);
    if (found.length > MOST_DEVICES) {
      throw new DomainError('ROLLOUT_TOO_LARGE', { values: { limit: MOST_DEVICES } });
    }
    const now = clock.now();
    const rolloutId = ids.next('rol', now);
    const devices = await shuffled(found, rolloutId);
    const plan: Plan = { ...rest, stages: stagesOf(written, devices.length, rest.continuous) };
    const parameters = parametersOf(request, { applicationId, newClientId: ids.uuid });
    const rollout: Rollout = {
      rolloutId,
      applicationId,
      label,
      operation,
      subject: subjectOf(operation, parameters),
      plan,
      state: 'preparing',
      reason: null,
      publishes: false,
      drained: true,
      stage: -1,
      stageSince: null,
      shareSince: null,
      approved: -1,
      devices: devices.length,
      entries: 0,
      createdAt: now,
      startedAt: null,
      endedAt: null,
    };
    await database.transact(async (unit) => {
      await lockApplication(unit, applicationId); // rollouts that are started at the same time count one another
      await requireRoom(unit, applicationId);
      await insertRollout(unit, rollout, { asked, selector });
      unit.onCommit(() => wake(rolloutId)); // the rollout is removed after a time if this creation breaks off
    });
    const ends = plan.stages.map((_, index) =>
      plan.stages.slice(0, index + 1).reduce((sum, one) => sum + one.devices, 0),
    );
    await joining.store(rolloutId, devices, (place) => ends.findIndex((end) => place < end), makeRoom);
    return database.transact(async (unit) => {
      await lockApplication(unit, applicationId); // it may have been deleted meanwhile
      const stored = await findRollout(unit, rolloutId, unit.forUpdate);
      if (!stored) throw new DomainError('OVERLOADED'); // it took longer than a rollout may take to be prepared
      const made = await transitions.write(unit, { ...stored, state: 'scheduled' }, 'created', {
        actor: 'application',
      });
      await also?.(unit, made);
      unit.onCommit(() => metrics.rolloutsCreated.inc({ operation }));
      return made;
    });
  };
}
