import { DomainError } from '@lapel/schemas/contracts/errors';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Device } from '../devices/device-repository.ts';
import type { Devices } from '../devices/devices.ts';
import type { TagsOfDevices } from '../devices/tags.ts';
import type { Transactions } from '../transactions/transactions.ts';
import type { ActionName, ActionParameters, Outcome } from './device-action.ts';

export interface ChangeParts {
  devices: Pick<Devices, 'blockIn' | 'removeIn'>;
  tags: Pick<TagsOfDevices, 'patchIn'>;
  transactions: Pick<Transactions, 'cancelOf'>;
}

/** Changes a device that the unit has locked. A DomainError that it throws before its first change refuses the device. */
export type Change = (unit: UnitOfWork, device: Device, parameters: ActionParameters) => Promise<Outcome['state']>;

/** The changes of devices that are made in units of work of their own; `move` is part of a new command. */
export function createChanges({
  devices,
  tags,
  transactions,
}: ChangeParts): Readonly<Record<Exclude<ActionName, 'move'>, Change>> {
  const setBlocked =
    (blocked: boolean): Change =>
    async (unit, device) => {
      if (device.blocked === blocked) return 'unchanged';
      await devices.blockIn(unit, device, blocked);
      return 'done';
    };

  return {
    block: setBlocked(true),
    unblock: setBlocked(false),

    async tag(unit, { deviceId, activation, applicationId }, { tags: patch = {} }) {
      if (activation !== 'activated' || applicationId === null) throw new DomainError('DEVICE_NOT_ACTIVATED');
      const changed = await tags.patchIn(unit, { deviceId, applicationId }, patch);
      if (changed === 'refused') throw new DomainError('TOO_MANY_TAGS');
      return changed === 'changed' ? 'done' : 'unchanged';
    },

    cancel: async (unit, { deviceId }) => ((await transactions.cancelOf(unit, deviceId)) === 0 ? 'unchanged' : 'done'),

    async delete(unit, device, { force = false }) {
      await devices.removeIn(unit, device, force);
      return 'done';
    },
  };
}
