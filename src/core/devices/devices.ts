import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Owners } from '../../runtime/device-owners.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret, matchesSecret } from '../../runtime/secret-hash.ts';
import type { Cleared } from '../applications/clearing.ts';
import { releaseActivation, requireActivatedDevice, requireLinkedDevice } from './activation.ts';
import { createDeviceCredentials, type Revoke } from './device-credentials.ts';
import {
  type CertifiedDevice,
  type Device,
  deleteDevice,
  findCertified,
  findCredentialHash,
  findDevice,
  insertDevice,
  listDevices,
  updateDevice,
} from './device-repository.ts';
import { deleteStatus } from './status-repository.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  /** Throws DEVELOPER_NOT_FOUND when the developer does not exist. */
  requireDeveloper(developerId: string): Promise<unknown>;
  /** Also throws DEVELOPER_LEAVING, when the developer is being removed. */
  requireStaying(developerId: string, sql?: Sql): Promise<unknown>;
  owners: Pick<Owners, 'learn'>;
  revoke: Revoke;
  /**
   * Functions of other parts, each of which deletes its data about a device in the unit of work that removes the
   * device, or moves it to another developer.
   */
  forgetting: ((unit: UnitOfWork, deviceId: string) => Promise<void> | void)[];
  /** Deletes the stored requests of a device, which an application was asked to answer. */
  forgetRequests(unit: UnitOfWork, deviceId: string): Promise<void>;
  /** Deletes the record of the node to which a device is connected, in the unit of work that removes the device. */
  removed(unit: UnitOfWork, deviceId: string): Promise<unknown>;
  /** Ends every transaction of a device, and its activation, and notifies its application. */
  endTransactions(unit: UnitOfWork, device: Device): Promise<void>;
  /**
   * Deletes the transactions that are due for a device, of one application or of all, without notifying anybody. Returns
   * their number.
   */
  dropDue(unit: UnitOfWork, deviceId: string, applicationId?: string): Promise<number>;
}

export type Devices = ReturnType<typeof createDevices>;

/**
 * Registration, credentials and properties of devices (administration), and the activation that an application sees (op 4).
 */
export function createDevices({
  database,
  clock,
  ids,
  requireDeveloper,
  requireStaying,
  owners,
  revoke,
  forgetting,
  forgetRequests,
  removed,
  endTransactions,
  dropDue,
}: Parts) {
  const existing = async (deviceId: string): Promise<CertifiedDevice> => {
    const device = await findCertified(database.read, deviceId);
    if (!device) throw new DomainError('DEVICE_NOT_FOUND');
    return device;
  };

  /**
   * Registers a device. Its credential (given by the caller, or made here) is returned only now, because only a hash is
   * stored. Throws DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING, DEVICE_EXISTS.
   */
  async function register(request: {
    developerId: string;
    deviceId: string;
    hardwareProperties?: object | null;
    credential?: string;
  }): Promise<{ deviceId: string; credential: string }> {
    const { deviceId, developerId, hardwareProperties = null, credential = ids.secret() } = request;
    const device = { deviceId, developerId, hardwareProperties, createdAt: clock.now() };
    await database.transact(
      async (unit) => {
        // Read inside the unit: a read before it could let a later, equal registration come first.
        await requireStaying(developerId, unit);
        if (!(await insertDevice(unit, device, hashSecret(credential)))) throw new DomainError('DEVICE_EXISTS');
      },
      { device: deviceId },
    );
    return { deviceId, credential };
  }

  /** Deletes all data that a device has reported or that belongs to its session, and ends its connection. */
  async function forget(unit: UnitOfWork, deviceId: string): Promise<void> {
    await deleteStatus(unit, deviceId);
    for (const forgotten of [...forgetting, forgetRequests]) await forgotten(unit, deviceId);
    await revoke(unit, deviceId, 'dropped');
  }

  /** Removes a device that the unit has locked, and whose transactions have ended. */
  async function remove(unit: UnitOfWork, deviceId: string): Promise<void> {
    await forget(unit, deviceId);
    await removed(unit, deviceId);
    await deleteDevice(unit, deviceId);
  }

  /** Blocks or unblocks a device that the unit has locked. */
  async function blockIn(unit: UnitOfWork, device: Device, blocked: boolean): Promise<void> {
    await updateDevice(unit, { ...device, blocked });
    if (blocked) await revoke(unit, device.deviceId, 'dropped');
  }

  /** Removes a device that the unit has locked. Throws DEVICE_IN_USE. */
  async function removeIn(unit: UnitOfWork, device: Device, force: boolean): Promise<void> {
    if (device.activation !== 'deactivated' && !force) throw new DomainError('DEVICE_IN_USE');
    await endTransactions(unit, device);
    await remove(unit, device.deviceId);
  }

  return {
    ...createDeviceCredentials({ database, clock, ids, owners, revoke }),

    blockIn,
    removeIn,

    register,

    /**
     * Like `register`, but succeeds also when the device already exists for the developer with the given credential. So a
     * caller can repeat a registration whose answer was lost.
     */
    async registerOnce(request: Parameters<typeof register>[0]): ReturnType<typeof register> {
      try {
        return await register(request);
      } catch (error) {
        const { deviceId, developerId, credential } = request;
        if (!(error instanceof DomainError) || error.code !== 'DEVICE_EXISTS' || credential === undefined) throw error;
        const device = await findDevice(database.read, deviceId);
        const hash = await findCredentialHash(database.read, deviceId);
        if (device?.developerId !== developerId || !matchesSecret(credential, hash)) throw error;
        return { deviceId, credential };
      }
    },

    /** A page of a developer's devices. Throws DEVELOPER_NOT_FOUND. */
    async list(developerId: string, page: { offset: number; limit: number }) {
      await requireDeveloper(developerId);
      return listDevices(database.read, developerId, page);
    },

    /** Throws DEVICE_NOT_FOUND. */
    find: existing,

    /**
     * Changes properties, blocks or unblocks a device, or moves a deactivated device to another developer, who sees none of
     * its earlier data. Throws DEVICE_NOT_FOUND, DEVICE_IN_USE, DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING.
     */
    async update(
      deviceId: string,
      change: { hardwareProperties?: object | null; developerId?: string; blocked?: boolean },
    ): Promise<CertifiedDevice> {
      if (change.developerId !== undefined) await requireStaying(change.developerId);
      return database.transact(
        async (unit) => {
          const device = await findCertified(unit, deviceId);
          if (!device) throw new DomainError('DEVICE_NOT_FOUND');
          const changed = { ...device, ...change };
          if (changed.developerId !== device.developerId) {
            if (device.activation !== 'deactivated') throw new DomainError('DEVICE_IN_USE');
            await endTransactions(unit, device);
            await forget(unit, deviceId);
            unit.onCommit(() => owners.learn(deviceId, changed.developerId));
          }
          await updateDevice(unit, changed);
          if (changed.blocked) await revoke(unit, deviceId, 'dropped');
          return changed;
        },
        { device: deviceId },
      );
    },

    /**
     * Removes a device with its MQTT session, its status and its presence. `force` removes an activated one too: its
     * unfinished transactions end, and its application is notified. Throws DEVICE_NOT_FOUND, DEVICE_IN_USE.
     */
    async remove(deviceId: string, { force = false } = {}): Promise<void> {
      // The unit is begun without the deviceId as its key, because it can end an activation, which also changes a
      // counter of the application.
      await database.transact(
        async (unit) => {
          const device = await findDevice(unit, deviceId, unit.forRemoval);
          if (!device) throw new DomainError('DEVICE_NOT_FOUND');
          await removeIn(unit, device, force);
        },
        { about: deviceId },
      );
    },

    /** Removes a device of a developer who leaves, in a unit of work. No application is notified. */
    async clear(unit: UnitOfWork, deviceId: string, developerId: string): Promise<Cleared> {
      const device = await findDevice(unit, deviceId, unit.forRemoval);
      if (device?.developerId !== developerId) return {};
      const transactions = await dropDue(unit, deviceId);
      if (device.activation !== 'deactivated') await releaseActivation(unit, deviceId);
      await remove(unit, deviceId);
      return { devices: 1, transactions };
    },

    /**
     * Ends the activation of a device for an application that leaves, in a unit of work. The device is not asked. It may
     * log in again, and be activated for another application of its developer.
     */
    async release(unit: UnitOfWork, deviceId: string, applicationId: string): Promise<Cleared> {
      const device = await findDevice(unit, deviceId, unit.forUpdate);
      if (device?.applicationId !== applicationId) return {};
      const transactions = await dropDue(unit, deviceId, applicationId);
      await releaseActivation(unit, deviceId);
      await forgetRequests(unit, deviceId);
      await revoke(unit, deviceId, 'dropped');
      return { devices: 1, transactions };
    },

    /**
     * Closes the connection of a device, whichever node it is connected to; the device may connect again. Throws
     * DEVICE_NOT_FOUND.
     */
    async disconnect(deviceId: string): Promise<void> {
      await database.transact(
        async (unit) => {
          if (!(await findDevice(unit, deviceId))) throw new DomainError('DEVICE_NOT_FOUND');
          await revoke(unit, deviceId, 'kept');
        },
        { device: deviceId },
      );
    },

    /** Finds a device that is linked to the developer (op 9). Throws DEVICE_UNAVAILABLE. */
    requireLinked: (developerId: string, deviceId: string): Promise<Device> =>
      requireLinkedDevice(database.read, deviceId, developerId),

    /**
     * Finds a device that is activated for the application. Throws DEVICE_UNAVAILABLE, DEVICE_NOT_ACTIVATED,
     * DEVICE_ACTIVATED_ELSEWHERE.
     */
    requireActivated: (owner: { applicationId: string; developerId: string }, deviceId: string): Promise<Device> =>
      requireActivatedDevice(database.read, deviceId, owner),

    /**
     * The activation status for one application (op 4). An activation that the device has not confirmed yet counts as
     * deactivated. Throws DEVICE_UNAVAILABLE, DEVICE_ACTIVATED_ELSEWHERE.
     */
    async activationStatus(
      owner: { applicationId: string; developerId: string },
      deviceId: string,
    ): Promise<{ status: 'activated'; clientId: string } | { status: 'deactivated' }> {
      const device = await requireLinkedDevice(database.read, deviceId, owner.developerId);
      if (device.activation !== 'activated') return { status: 'deactivated' };
      if (device.applicationId !== owner.applicationId) throw new DomainError('DEVICE_ACTIVATED_ELSEWHERE');
      return { status: 'activated', clientId: device.clientId ?? '' };
    },
  };
}
