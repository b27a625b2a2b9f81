import { createHash } from 'node:crypto';
import { DomainError, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { DeviceFilter } from '@lapel/schemas/contracts/types';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Audit } from '../audit/audit.ts';
import type { Devices } from '../devices/devices.ts';
import type { TagsOfDevices } from '../devices/tags.ts';
import type { FleetSelection } from '../selection/fleet-selection.ts';
import { readDeviceFilter } from '../selection/read-fleet-filter.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { createActionDriver } from './action-driver.ts';
import {
  addCount,
  countAtWork,
  findAction,
  findByKey,
  findCounts,
  findFilter,
  insertAction,
  insertDevices,
  listActions,
  listDevicesOf,
  updateAction,
} from './action-repository.ts';
import { createCarrying } from './carrying.ts';
import {
  type ActionName,
  type ActionParameters,
  type ActionReason,
  type Count,
  type DeviceAction,
  FINAL,
  objectsOf,
  reasonAgainst,
} from './device-action.ts';

/** The most actions that are at work at a time. */
const MOST_AT_WORK = 10;
/** The devices that one step of the gathering examines, and stores in one unit of work. */
const PER_STEP = 500;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'deviceActions' | 'deviceActionsRefused' | 'deviceActionDevices'>;
  /** LAPEL_DEVICE_ACTION_LIMIT: the most devices of one action. */
  mostDevices: number;
  leads(): boolean;
  audit: Pick<Audit, 'noted'>;
  fleetSelection: FleetSelection;
  devices: Pick<Devices, 'blockIn' | 'removeIn'>;
  tags: Pick<TagsOfDevices, 'patchIn'>;
  transactions: Pick<Transactions, 'submit' | 'check' | 'releaseIn' | 'cancelOf' | 'throttle'>;
}

/** An action as the administration asks for it. */
export interface WantedAction {
  action: ActionName;
  parameters: ActionParameters;
  filter: DeviceFilter;
  /** The number of devices that the caller expects. */
  confirmed?: number | undefined;
  /** The Idempotency-Key of the request. */
  key?: string | undefined;
}

export type ShownAction = DeviceAction & { filter: DeviceFilter; counts: Count[] };

export type DeviceActions = ReturnType<typeof createDeviceActions>;

/**
 * One change of all devices that match a filter. The devices are settled at the beginning, so that none which begins to
 * match later is changed; each is looked at once more immediately before its change. The work is done in the background,
 * on one node.
 */
export function createDeviceActions(parts: Parts) {
  const { database, clock, ids, metrics, mostDevices, audit, fleetSelection, transactions } = parts;
  const carrying = createCarrying(parts);
  const driver = createActionDriver({
    ...parts,
    advance,
    stopRestored: ({ actionId }) =>
      change(actionId, async (unit, action) => {
        if (action.endedAt === null) await endIn(unit, action, 'stopped', 'DATABASE_RESTORED');
      }),
  });

  /** Throws DEVICE_ACTION_NOT_FOUND. */
  async function existing(actionId: string): Promise<DeviceAction> {
    const action = await findAction(database.read, actionId);
    if (!action) throw new DomainError('DEVICE_ACTION_NOT_FOUND');
    return action;
  }

  const change = (actionId: string, work: (unit: UnitOfWork, action: DeviceAction) => Promise<void>): Promise<void> =>
    database.transact(async (unit) => {
      const action = await findAction(unit, actionId, unit.forUpdate);
      if (!action) throw new DomainError('DEVICE_ACTION_NOT_FOUND');
      await work(unit, action);
    });

  /** Ends an action that the unit has locked. */
  async function endIn(
    unit: UnitOfWork,
    action: DeviceAction,
    state: 'completed' | 'stopped' | 'refused',
    reason: ActionReason | null = null,
  ): Promise<void> {
    const { actionId, action: name, devices } = action;
    await updateAction(unit, { ...action, state, reason, endedAt: clock.now() });
    const counts = await findCounts(unit, actionId);
    const about = objectsOf(await findFilter(unit, actionId), action.parameters);
    unit.onCommit(() => {
      if (reason === 'TOO_MANY_DEVICES') metrics.deviceActionsRefused.inc({ bound: 'devices' });
      void audit.noted({
        action: `DEVICE-ACTION ${state}`,
        resource: `/admin/v1/device-actions/${actionId}`,
        id: actionId,
        details: { action: name, reason, devices, counts: sums(counts) },
        about,
      });
    });
  }

  /** Finds and stores the next devices of an action. They wait until all are found. */
  async function gather({ actionId, createdAt, place }: DeviceAction): Promise<void> {
    const filter = readDeviceFilter(await findFilter(database.read, actionId), createdAt);
    const { deviceIds, next } = await fleetSelection.page(filter, { after: place, limit: PER_STEP });
    await database.transact(
      async (unit) => {
        const action = await findAction(unit, actionId, unit.forUpdate);
        if (action?.state !== 'gathering' || action.place !== place) return;
        await insertDevices(unit, actionId, deviceIds, clock.now());
        if (deviceIds.length > 0)
          await addCount(unit, actionId, { state: 'waiting', code: '', devices: deviceIds.length });
        const found = { ...action, place: next ?? place, devices: action.devices + deviceIds.length };
        const against = reasonAgainst(found, mostDevices);
        if (against !== undefined) await endIn(unit, found, 'refused', against);
        else if (next !== undefined) await updateAction(unit, found);
        else await updateAction(unit, { ...found, state: 'running', startedAt: clock.now() });
      },
      { pace: 'soon' },
    );
  }

  async function advance(action: DeviceAction): Promise<void> {
    if (action.state === 'gathering') await gather(action);
    else if (!(await carrying.piece(action)))
      await change(action.actionId, async (unit, current) => {
        if (current.state === 'running') await endIn(unit, current, 'completed');
      });
  }

  /** Throws REQUEST_INVALID for an action that needs what the caller has not given. */
  async function check({ action, parameters, confirmed }: WantedAction, isDry: boolean): Promise<void> {
    const missing = (name: string): DomainError =>
      DomainError.invalid({ loc: ['body', name], msg: 'Field required', type: 'missing' });
    if (action === 'tag' && parameters.tags === undefined) throw missing('tags');
    if (action === 'move' && parameters.applicationId === undefined) throw missing('applicationId');
    if (!isDry && FINAL.includes(action) && confirmed === undefined) throw missing('confirm');
    if (action === 'move' && parameters.applicationId !== undefined) await requireReady(parameters.applicationId);
  }

  /** Throws REQUEST_INVALID for an application that cannot have commands, so that no device can be moved to it. */
  async function requireReady(applicationId: string): Promise<void> {
    try {
      await transactions.check(applicationId, { operation: 'activate', asked: {} });
    } catch (error) {
      if (!(error instanceof DomainError) || isDatabaseAway(error)) throw error;
      const msg = `Input should be an application that can have commands: ${error.message}`;
      throw DomainError.invalid({ loc: ['body', 'applicationId'], msg, type: 'enum' });
    }
  }

  /** Throws TOO_MANY_DEVICE_ACTIONS. */
  async function requireRoom(unit: UnitOfWork): Promise<void> {
    if ((await countAtWork(unit)) < MOST_AT_WORK) return;
    throw new DomainError('TOO_MANY_DEVICE_ACTIONS', { values: { limit: MOST_AT_WORK } });
  }

  async function show(action: DeviceAction): Promise<ShownAction> {
    const { actionId } = action;
    const [filter, counts] = await Promise.all([
      findFilter(database.read, actionId),
      findCounts(database.read, actionId),
    ]);
    return { ...action, filter, counts };
  }

  const find = async (actionId: string): Promise<ShownAction> => show(await existing(actionId));

  return {
    find,

    /**
     * Counts the devices that an action would have, up to a little more than an action may have. Throws REQUEST_INVALID.
     */
    async count(wanted: WantedAction): Promise<{ matching: number; limit: number }> {
      await check(wanted, true);
      const filter = readDeviceFilter(wanted.filter, clock.now());
      return { matching: await fleetSelection.count(filter, mostDevices), limit: mostDevices };
    },

    /**
     * Stores an action. When the promise resolves, it is on the disk. A request with the same key gets the same action.
     * Throws as `count`, and TOO_MANY_DEVICE_ACTIONS, IDEMPOTENCY_KEY_REUSED.
     */
    async begin(wanted: WantedAction): Promise<ShownAction> {
      await check(wanted, false);
      const { action: name, parameters, filter, confirmed = null, key = null } = wanted;
      const now = clock.now();
      readDeviceFilter(filter, now);
      const digest = createHash('sha256')
        .update(JSON.stringify([name, parameters, filter, confirmed]))
        .digest('hex');
      const action: DeviceAction = {
        actionId: ids.next('act', now),
        action: name,
        parameters,
        confirmed,
        state: 'gathering',
        reason: null,
        place: '',
        devices: 0,
        createdAt: now,
        startedAt: null,
        endedAt: null,
      };
      const store = (): Promise<string> =>
        database.transact(async (unit) => {
          const known = key === null ? undefined : await findByKey(unit, key);
          if (known && known.digest !== digest) throw new DomainError('IDEMPOTENCY_KEY_REUSED');
          if (known) return known.actionId;
          await requireRoom(unit);
          if (!(await insertAction(unit, action, { filter, key, digest })))
            throw new DomainError('IDEMPOTENCY_KEY_RUNNING');
          unit.onCommit(() => {
            metrics.deviceActions.inc({ action: name });
            driver.wake();
          });
          return action.actionId;
        });
      try {
        return await find(await store());
      } catch (error) {
        if (error instanceof DomainError && error.code === 'TOO_MANY_DEVICE_ACTIONS')
          metrics.deviceActionsRefused.inc({ bound: 'at_work' });
        throw error;
      }
    },

    /** Stops an action: what was changed stays. Throws DEVICE_ACTION_NOT_FOUND, DEVICE_ACTION_ENDED. */
    async stop(actionId: string): Promise<ShownAction> {
      await change(actionId, async (unit, action) => {
        if (action.endedAt !== null) throw new DomainError('DEVICE_ACTION_ENDED', { values: { state: action.state } });
        await endIn(unit, action, 'stopped', 'REQUESTED');
      });
      return find(actionId);
    },

    /** A page of actions, the newest first. */
    async list(page: { after?: string | undefined; limit: number }): Promise<ShownAction[]> {
      const found = await listActions(database.read, page);
      return Promise.all(
        found.map(async (action) => ({ ...action, counts: await findCounts(database.read, action.actionId) })),
      );
    },

    /** A page of the devices of an action, in the order of their deviceIds. Throws DEVICE_ACTION_NOT_FOUND. */
    async devices(actionId: string, page: Parameters<typeof listDevicesOf>[2]) {
      await existing(actionId);
      return listDevicesOf(database.aside, actionId, page);
    },

    /**
     * Call this when the database was restored. It does not know what happened after the backup, so an action that is at work
     * in it is stopped.
     */
    stopRestored: driver.stopFirst,

    start: driver.start,
    idle: driver.idle,
    [Symbol.asyncDispose]: driver.stop,
  };
}

/** The numbers of devices by state. */
export function sums(counts: readonly Count[]): Record<string, number> {
  const all: Record<string, number> = {};
  for (const { state, devices } of counts) all[state] = (all[state] ?? 0) + devices;
  return all;
}
