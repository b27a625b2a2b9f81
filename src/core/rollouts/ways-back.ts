import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { findSetting } from '../devices/setting-repository.ts';
import { isSetting } from '../transactions/operations.ts';
import { findGiven, givenAmong, replacedAmong } from './given-repository.ts';
import type { Joining } from './joining.ts';
import type { Rollout, RolloutOperation } from './rollout.ts';
import { findRollout } from './rollout-repository.ts';
import { kindOf } from './taken-settings.ts';
import { findValues, removeValue, saveValue } from './value-repository.ts';

/** The devices of the reverted rollout that one step looks at, and those whose values one unit of work copies. */
const PER_STEP = 500;
const PER_UNIT = 50;
/** Microseconds between two looks whether the commands of the reverted rollout are cancelled. */
const LOOK_AGAIN: Micros = 500_000;

/** Thrown in the unit of work that makes a command, when the device must not have it. */
export class LeftOut extends Error {
  readonly code: 'SUPERSEDED';

  constructor(code: 'SUPERSEDED') {
    super(code);
    this.code = code;
  }
}

/** The body of an operation that makes a command with these parameters. */
function bodyOf(operation: RolloutOperation, parameters: object): unknown {
  if (operation === 'setWifi') return (parameters as { networks: unknown }).networks;
  return operation === 'setApn' ? (parameters as { apns: unknown }).apns : parameters;
}

interface Parts {
  database: Database;
  clock: Clock;
  joining: Pick<Joining, 'join'>;
}

export type Ways = ReturnType<typeof createWays>;

/** Keeps what devices had before a rollout, and gives it back to those of a rollout that reverts it. */
export function createWays({ database, clock, joining }: Parts) {
  /** By rollout: the device of the reverted rollout after which the next step looks. */
  const places = new Map<string, string>();

  /**
   * Keeps the settings that a device took before a command of the rollout. An earlier command of the same rollout may have
   * succeeded, so its settings are not the former ones.
   */
  async function keepFormer(unit: UnitOfWork, { rolloutId, operation, subject }: Rollout, deviceId: string) {
    const former = await findSetting(unit, deviceId, kindOf(operation, subject));
    if (former?.rolloutId === rolloutId) return;
    if (former?.parameters) await saveValue(unit, rolloutId, deviceId, former.parameters);
    else await removeValue(unit, rolloutId, deviceId);
  }

  async function copyValues(from: string, to: string, deviceIds: readonly string[]): Promise<void> {
    for (let start = 0; start < deviceIds.length; start += PER_UNIT)
      await database.transact(
        async (unit) => {
          if (!(await findRollout(unit, to, unit.forUpdate))) return;
          const values = await findValues(unit, from, deviceIds.slice(start, start + PER_UNIT));
          for (const [deviceId, parameters] of values) await saveValue(unit, to, deviceId, parameters);
        },
        { pace: 'soon' },
      );
  }

  return {
    /**
     * Runs in the unit of work that makes a command of a rollout, under the lock of its device. Keeps the former settings;
     * throws LeftOut when the rollout reverts another one, and the device got a later command in its place.
     */
    async begin(unit: UnitOfWork, rollout: Rollout, deviceId: string): Promise<void> {
      const { reverts } = rollout.plan;
      if (reverts === undefined) {
        if (isSetting(rollout.operation)) await keepFormer(unit, rollout, deviceId);
        return;
      }
      const reverted = await findRollout(unit, reverts);
      if (!reverted) return; // it was removed after its time, long after the commands of devices that connect
      const later = await replacedAmong(unit, reverted, [deviceId], rollout.rolloutId);
      if (later.has(deviceId)) throw new LeftOut('SUPERSEDED');
    },

    /**
     * The bodies of the commands of some devices, if each device of the rollout has its own: its former settings. A device
     * whose former settings are unknown has no entry.
     */
    async bodiesOf(
      { rolloutId, operation, plan }: Rollout,
      deviceIds: readonly string[],
    ): Promise<Map<string, unknown> | undefined> {
      if (plan.reverts === undefined || !isSetting(operation)) return undefined;
      const values = await findValues(database.read, rolloutId, deviceIds);
      return new Map([...values].map(([deviceId, parameters]) => [deviceId, bodyOf(operation, parameters)]));
    },

    /**
     * Completes the devices of a rollout that reverts another one, before its first stage begins. The other one has been
     * cancelled in the commit that made this one, and goes on until its commands are cancelled; only then it is settled which
     * devices had one. Copies the former settings, a page of devices at each step, because the other rollout may be removed
     * first. Each step can be repeated. Returns the time of the next step; undefined when nothing is left to do.
     */
    async gather(rollout: Rollout): Promise<Micros | 'now' | undefined> {
      const { rolloutId, plan, operation } = rollout;
      if (plan.reverts === undefined) return undefined;
      const reverted = await findRollout(database.read, plan.reverts);
      if (!reverted) return undefined;
      if (!reverted.drained) return clock.now() + LOOK_AGAIN;
      const found = await findGiven(database.read, plan.reverts, places.get(rolloutId) ?? '', PER_STEP);
      const ids = await givenAmong(database.read, reverted, found, plan.revertsFailed ?? false);
      // Somebody has paused it: the same page comes after the resume.
      if (!(await joining.join(rollout, ids))) return 'now';
      if (isSetting(operation)) await copyValues(plan.reverts, rolloutId, ids);
      const last = found.at(-1);
      if (last && found.length === PER_STEP) {
        places.set(rolloutId, last.deviceId);
        return 'now';
      }
      places.delete(rolloutId);
      return undefined;
    },

    /** Call this when a rollout has ended: it may have been cancelled while it gathered its devices. */
    forget: (rolloutId: string): unknown => places.delete(rolloutId),
  };
}
