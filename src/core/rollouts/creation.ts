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
import { findOverlaps, type Overlap } from './overlaps.ts';
import { USUAL_MOST_UNFINISHED } from './places.ts';
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
/** Devices of which it is found out at once whether they are connected. */
const PER_LOOK = 1_000;

/** A rollout as an application asks for it. */
export interface WantedRollout
  extends Omit<Plan, 'stages' | 'accepted' | 'letPass' | 'since' | 'revertedBy' | 'changedBy'> {
  selector: DeviceSelector;
  applicationId: string;
  developerId: string;
  label: string | null;
  operation: RolloutOperation;
  /** The body of the operation, checked by its schema. */
  asked: unknown;
  stages: readonly WrittenStage[];
}

/** The devices of a rollout that has no selector, and its subject if it has no single body. */
export interface Chosen {
  find(makeRoom: BulkThrottle): Promise<string[]>;
  subject?: string | null;
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
  connected(deviceIds: readonly string[]): ReadonlySet<string> | Promise<ReadonlySet<string>>;
  wake(rolloutId: string): void;
}

/** What is found out about a rollout before it is stored. */
export interface Prepared {
  operation: RolloutOperation;
  subject: string | null;
  plan: Plan;
  /** Its devices, in the order of their deviceIds. */
  found: readonly string[];
  connected: number;
  overlaps: readonly Overlap[];
}

/** Makes the functions that store new rollouts, and that only find out what they would be. */
export function createCreation(parts: Parts) {
  const { database, clock, ids, metrics, transitions, joining, check, throttle, lockApplication, connected, wake } =
    parts;

  async function countConnected(found: readonly string[]): Promise<number> {
    let sum = 0;
    for (let start = 0; start < found.length; start += PER_LOOK)
      sum += (await connected(found.slice(start, start + PER_LOOK))).size;
    return sum;
  }

  /** Checks the rollout, and settles its devices. Nothing is stored. Throws what `create` throws. */
  async function prepare(wanted: WantedRollout, makeRoom: BulkThrottle, chosen?: Chosen): Promise<Prepared> {
    const { applicationId, label: _, operation, asked, selector, stages: written, ...rest } = wanted;
    const request = { operation, asked } as Request;
    stagesOf(written, 0);
    await check(applicationId, request).catch((error: unknown) => {
      const isLater = rest.startAt !== undefined && rest.startAt > clock.now();
      if (!isLater || !(error instanceof DomainError) || !CAN_COME.includes(error.code)) throw error;
    });
    await requireRoom(database.read, applicationId, rest);
    const found = chosen
      ? await chosen.find(makeRoom)
      : await joining.find(applicationId, selector, MOST_DEVICES + 1, makeRoom);
    if (found.length > MOST_DEVICES) {
      throw new DomainError('ROLLOUT_TOO_LARGE', { values: { limit: MOST_DEVICES } });
    }
    const most = rest.maxUnfinished ?? (rest.abort && USUAL_MOST_UNFINISHED);
    const bound = most === undefined ? {} : { maxUnfinished: most };
    const plan: Plan = { ...rest, ...bound, stages: stagesOf(written, found.length, rest.continuous) };
    const subjectOfAsked = (): string | null =>
      subjectOf(operation, parametersOf(request, { applicationId, newClientId: ids.uuid }));
    const subject = chosen?.subject === undefined ? subjectOfAsked() : chosen.subject;
    const overlaps = await findOverlaps(database.aside, { applicationId, operation, subject }, found);
    return { operation, subject, plan, found, connected: await countConnected(found), overlaps };
  }

  /**
   * Stores a rollout with its devices, which are settled now. When the promise resolves, all of it is on the disk. `also`
   * runs in the unit of work after which the rollout exists; `chosen` takes the place of the selector. Throws REQUEST_INVALID, TOO_MANY_ROLLOUTS,
   * ROLLOUT_TOO_LARGE, APPLICATION_UNREGISTERED, and the errors of `check`; a version of a later start need not be distributed yet.
   */
  async function create(
    wanted: WantedRollout,
    also?: (unit: UnitOfWork, rollout: Rollout, prepared: Prepared) => Promise<void>,
    chosen?: Chosen,
  ): Promise<{ made: Rollout; prepared: Prepared }> {
    const { applicationId, label, operation, asked, selector } = wanted;
    const roomUntil = performance.now() + ROOM_MS;
    const makeRoom: BulkThrottle = async (began) => (performance.now() < roomUntil ? throttle(began) : undefined);
    const prepared = await prepare(wanted, makeRoom, chosen);
    const { plan, found, subject } = prepared;
    const now = clock.now();
    const rolloutId = ids.next('rol', now);
    const devices = await shuffled(found, rolloutId);
    const rollout: Rollout = {
      rolloutId,
      applicationId,
      label,
      operation,
      subject,
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
      await requireRoom(unit, applicationId, plan);
      await insertRollout(unit, rollout, { asked, selector });
      unit.onCommit(() => wake(rolloutId)); // the rollout is removed after a time if this creation breaks off
    });
    const ends = plan.stages.map((_, index) =>
      plan.stages.slice(0, index + 1).reduce((sum, one) => sum + one.devices, 0),
    );
    await joining.store(rolloutId, devices, (place) => ends.findIndex((end) => place < end), makeRoom);
    const made = await database.transact(async (unit) => {
      await lockApplication(unit, applicationId); // it may have been deleted meanwhile
      const stored = await findRollout(unit, rolloutId, unit.forUpdate);
      if (!stored) throw new DomainError('OVERLOADED'); // it took longer than a rollout may take to be prepared
      const written = await transitions.write(unit, { ...stored, state: 'scheduled' }, 'created', {
        actor: plan.byService ? 'service' : 'application',
        person: plan.startedBy,
      });
      await also?.(unit, written, prepared);
      unit.onCommit(() => metrics.rolloutsCreated.inc({ operation }));
      return written;
    });
    return { made, prepared };
  }

  return {
    create,
    /** Finds out what a rollout would be. Throws what `create` throws. */
    preview: (wanted: WantedRollout, chosen?: Chosen): Promise<Prepared> => prepare(wanted, throttle, chosen),
  };
}
