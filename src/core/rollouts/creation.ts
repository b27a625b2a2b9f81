import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { DeviceSelector } from '../../platform/contracts/types.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { parametersOf, type Request, subjectOf } from '../transactions/operations.ts';
import { type Joining, MOST_DEVICES } from './joining.ts';
import type { Plan, Rollout, RolloutOperation } from './rollout.ts';
import { countAtWork, findRollout, insertRollout } from './rollout-repository.ts';
import { shuffled } from './shuffle.ts';
import { stagesOf, type WrittenStage } from './stages.ts';
import type { Transitions } from './transitions.ts';

/** The most rollouts of an application that are at work. */
const MOST_AT_WORK = 100;

/** A rollout as an application asks for it. */
export interface WantedRollout extends Omit<Plan, 'stages' | 'accepted'> {
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
  metrics: Pick<Metrics, 'rolloutsCreated' | 'rolloutsRefused'>;
  transitions: Pick<Transitions, 'write'>;
  joining: Pick<Joining, 'find' | 'store'>;
}

/** Makes the function that stores new rollouts. */
export function createCreation({ database, clock, ids, metrics, transitions, joining }: Parts) {
  /**
   * Stores a rollout with its devices, which are settled now. When the promise resolves, all of it is on the disk. `also`
   * runs in the unit of work after which the rollout exists. Throws REQUEST_INVALID, TOO_MANY_ROLLOUTS,
   * ROLLOUT_TOO_LARGE.
   */
  return async function create(
    wanted: WantedRollout,
    also?: (unit: UnitOfWork, rollout: Rollout) => Promise<void>,
  ): Promise<Rollout> {
    const { applicationId, label, operation, asked, selector, stages: written, ...rest } = wanted;
    const requireRoom = async (sql: Parameters<typeof countAtWork>[0]): Promise<void> => {
      if ((await countAtWork(sql, applicationId)) < MOST_AT_WORK) return;
      metrics.rolloutsRefused.inc({ bound: 'at_work' });
      throw new DomainError('TOO_MANY_ROLLOUTS', { values: { limit: MOST_AT_WORK } });
    };
    stagesOf(written, 0);
    await requireRoom(database.read);
    const found = await joining.find(applicationId, selector, MOST_DEVICES + 1);
    if (found.length > MOST_DEVICES) {
      metrics.rolloutsRefused.inc({ bound: 'devices' });
      throw new DomainError('ROLLOUT_TOO_LARGE', { values: { limit: MOST_DEVICES } });
    }
    const now = clock.now();
    const rolloutId = ids.next('rol', now);
    const devices = await shuffled(found, rolloutId);
    const plan: Plan = { ...rest, stages: stagesOf(written, devices.length) };
    const request = { operation, asked } as Request;
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
      await requireRoom(unit);
      await insertRollout(unit, rollout, { asked, selector });
    });
    const ends = plan.stages.map((_, index) =>
      plan.stages.slice(0, index + 1).reduce((sum, one) => sum + one.devices, 0),
    );
    await joining.store(rolloutId, devices, (place) => ends.findIndex((end) => place < end));
    return database.transact(async (unit) => {
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
