import { DomainError, isPassing } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { findDevice } from '../devices/device-repository.ts';
import type { FleetSelection } from '../selection/fleet-selection.ts';
import { readDeviceFilter } from '../selection/read-fleet-filter.ts';
import type { Transactions } from '../transactions/transactions.ts';
import { addCount, findAction, findFilter, findWaiting, settleDevice, waitingAmong } from './action-repository.ts';
import { type ChangeParts, createChanges } from './changes.ts';
import type { ActionName, DeviceAction, Outcome } from './device-action.ts';

/** The devices of one piece, after which other work gets room. */
const PER_PIECE = 160;
/** The units of work of a piece that run at the same time. Few, so that the units of callers come between them. */
const AT_ONCE = 4;
/**
 * The devices of one unit of work, which takes a few milliseconds: changes that end commands, or write webhooks, have a unit
 * for each device.
 */
const PER_UNIT: Readonly<Record<ActionName, number>> = {
  tag: 40,
  block: 40,
  unblock: 40,
  cancel: 1,
  move: 1,
  delete: 1,
};

/** Thrown in a unit of work, so that only the outcome is stored. */
class Instead extends Error {
  readonly outcome: Outcome | undefined;
  constructor(outcome?: Outcome) {
    super('the device is not changed');
    this.outcome = outcome;
  }
}

interface Parts extends ChangeParts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'deviceActionDevices'>;
  fleetSelection: Pick<FleetSelection, 'among'>;
  transactions: Pick<Transactions, 'submit' | 'releaseIn' | 'cancelOf' | 'throttle'>;
}

/**
 * Carries out running actions, a piece at a time. Each unit of work changes some devices and stores, with this, what became
 * of them. So a process that is killed leaves no device half done, and none is changed twice.
 */
export function createCarrying(parts: Parts) {
  const { database, clock, log, metrics, fleetSelection, transactions } = parts;
  const changes = createChanges(parts);

  /** Locks the action, and finds those of the devices that still wait; none when the action does not run any more. */
  async function waitingIn(
    unit: UnitOfWork,
    { actionId }: DeviceAction,
    deviceIds: readonly string[],
  ): Promise<ReadonlySet<string>> {
    const action = await findAction(unit, actionId, unit.forUpdate);
    return action?.state === 'running' ? waitingAmong(unit, actionId, deviceIds) : new Set();
  }

  /** Stores what became of devices, and counts them. */
  async function settleIn(
    unit: UnitOfWork,
    { actionId, action }: DeviceAction,
    outcomes: ReadonlyMap<string, Outcome>,
  ): Promise<void> {
    const now = clock.now();
    for (const [deviceId, { state, code = '' }] of outcomes)
      await settleDevice(unit, actionId, { deviceId, state, code }, now);
    await addCount(unit, actionId, { state: 'waiting', code: '', devices: -outcomes.size });
    const groups = Map.groupBy(outcomes.values(), ({ state, code = '' }) => `${state} ${code}`);
    for (const [first, ...others] of groups.values()) {
      if (!first) continue;
      const { state, code = '' } = first;
      const devices = 1 + others.length;
      await addCount(unit, actionId, { state, code, devices });
      unit.onCommit(() => metrics.deviceActionDevices.inc({ action, state }, devices));
    }
  }

  /** Changes devices in a unit of work that is theirs; `matching` has those that match the filter now. */
  async function changeIn(
    unit: UnitOfWork,
    action: DeviceAction & { action: Exclude<ActionName, 'move'> },
    deviceIds: readonly string[],
    matching: ReadonlySet<string>,
  ): Promise<void> {
    const found = new Map<string, Awaited<ReturnType<typeof findDevice>>>();
    // All devices are locked first, in the order of their ids: two units never wait for each other.
    for (const deviceId of deviceIds) found.set(deviceId, await findDevice(unit, deviceId, unit.forUpdate));
    const waiting = await waitingIn(unit, action, deviceIds);
    const outcomes = new Map<string, Outcome>();
    for (const [deviceId, device] of found) {
      if (!waiting.has(deviceId)) continue;
      let outcome: Outcome;
      if (!device) outcome = { state: 'skipped', code: 'DEVICE_NOT_FOUND' };
      else if (!matching.has(deviceId)) outcome = { state: 'skipped', code: 'NO_LONGER_MATCHES' };
      else
        try {
          outcome = { state: await changes[action.action](unit, device, action.parameters) };
        } catch (error) {
          if (!(error instanceof DomainError) || isPassing(error)) throw error;
          outcome = { state: 'refused', code: error.code };
        }
      outcomes.set(deviceId, outcome);
    }
    if (outcomes.size > 0) await settleIn(unit, action, outcomes);
  }

  const settle = (action: DeviceAction, deviceId: string, outcome: Outcome): Promise<void> =>
    database.transact(
      async (unit) => {
        if ((await waitingIn(unit, action, [deviceId])).has(deviceId))
          await settleIn(unit, action, new Map([[deviceId, outcome]]));
      },
      { pace: 'soon' },
    );

  /**
   * Activates a device for another application: its present activation ends in the same commit, and the device is told of the
   * new one. A device that the new application may not have is refused, and stays as it was.
   */
  async function move(action: DeviceAction, deviceId: string, matches: boolean): Promise<void> {
    const { applicationId = '' } = action.parameters;
    async function before(unit: UnitOfWork): Promise<void> {
      const device = await findDevice(unit, deviceId, unit.forUpdate);
      if (!(await waitingIn(unit, action, [deviceId])).has(deviceId)) throw new Instead();
      if (!device) throw new Instead({ state: 'skipped', code: 'DEVICE_NOT_FOUND' });
      if (!matches) throw new Instead({ state: 'skipped', code: 'NO_LONGER_MATCHES' });
      if (device.applicationId === applicationId) throw new Instead({ state: 'unchanged' });
      await transactions.releaseIn(unit, device);
    }
    try {
      await transactions.submit({ applicationId, deviceId, operation: 'activate', asked: {}, before }, (unit) =>
        settleIn(unit, action, new Map([[deviceId, { state: 'done' }]])),
      );
    } catch (error) {
      if (error instanceof Instead) {
        if (error.outcome) await settle(action, deviceId, error.outcome);
      } else if (error instanceof DomainError && !isPassing(error)) {
        await settle(action, deviceId, { state: 'refused', code: error.code });
      } else throw error;
    }
  }

  async function change(
    action: DeviceAction,
    deviceIds: readonly string[],
    matching: ReadonlySet<string>,
  ): Promise<void> {
    const { action: name } = action;
    if (name === 'move') for (const deviceId of deviceIds) await move(action, deviceId, matching.has(deviceId));
    else
      await database.transact((unit) => changeIn(unit, { ...action, action: name }, deviceIds, matching), {
        pace: 'soon',
      });
  }

  /** Changes some devices. An unforeseen error refuses the device that causes it, so that it does not hold up the others. */
  async function changeEach(
    action: DeviceAction,
    deviceIds: readonly string[],
    matching: ReadonlySet<string>,
  ): Promise<void> {
    try {
      await change(action, deviceIds, matching);
    } catch (err) {
      if (isPassing(err)) throw err;
      const [deviceId = '', ...others] = deviceIds;
      if (others.length > 0) {
        for (const one of deviceIds) await changeEach(action, [one], matching);
        return;
      }
      log.error({ err, actionId: action.actionId, deviceId }, 'a device could not be changed');
      await settle(action, deviceId, { state: 'refused', code: 'INTERNAL' });
    }
  }

  return {
    /** Changes the next devices of a running action; resolves to false when none waits any more. */
    async piece(action: DeviceAction): Promise<boolean> {
      const { actionId, createdAt } = action;
      const began = performance.now();
      const all = await findWaiting(database.read, actionId, PER_PIECE);
      if (all.length === 0) return false;
      const filter = readDeviceFilter(await findFilter(database.read, actionId), createdAt);
      const matching = await fleetSelection.among(filter, all);
      const size = PER_UNIT[action.action];
      const groups: string[][] = [];
      for (let start = 0; start < all.length; start += size) groups.push(all.slice(start, start + size));
      const left = groups.values();
      const worker = async (): Promise<void> => {
        for (const group of left) await changeEach(action, group, matching);
      };
      const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
      for (const each of ended) if (each.status === 'rejected') throw each.reason;
      await transactions.throttle(began);
      return true;
    },
  };
}
