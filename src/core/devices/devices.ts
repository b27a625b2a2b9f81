import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Owners } from '../../runtime/device-owners.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret, matchesSecret } from '../../runtime/secret-hash.ts';
import type { Cleared } from '../applications/clearing.ts';
import { releaseActivation, requireActivatedDevice, requireLinkedDevice } from './activation.ts';
import {
  type CertifiedDevice,
  type Device,
  deleteDevice,
  findCertified,
  findCredentialHash,
  findDevice,
  findLogin,
  insertDevice,
  listDevices,
  offerCredential,
  saveFirstLogin,
  takeOffered,
  takeOfferedCertificate,
  updateCredential,
  updateDevice,
} from './device-repository.ts';
import { matchOf, type Proof } from './login-proof.ts';
import { deleteStatus } from './status-repository.ts';

/**
 * Ends a device's connection, if it has one, at the commit of the unit. The MQTT will of the connection is published
 * (`kept`) after a new credential or a forced disconnect, and dropped when the device is blocked, moved or removed.
 */
export type Revoke = (unit: UnitOfWork, deviceId: string, will: 'kept' | 'dropped') => Promise<void> | undefined;

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

  /** Stores the login with an offered credential or certificate. True also if another login has done so at the same time. */
  async function takeOffer(deviceId: string, proof: Proof, nextHash: Buffer | null): Promise<boolean> {
    if ('certificateFingerprint' in proof) {
      const { certificateFingerprint: shown } = proof;
      const take = (unit: UnitOfWork) => takeOfferedCertificate(unit, deviceId, shown);
      if (await database.transact(take, { device: deviceId, pace: 'crowd' })) return true;
      return (await findCertified(database.read, deviceId))?.issued?.fingerprint === shown;
    }
    const hash = nextHash as Buffer;
    if (await database.transact((unit) => takeOffered(unit, deviceId, hash), { device: deviceId, pace: 'crowd' }))
      return true;
    return (await findCredentialHash(database.read, deviceId))?.equals(hash) ?? false;
  }

  return {
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
     * Replaces the credential and closes the connection. The old credential is invalid at once, and so is every client
     * certificate except the one with the given fingerprint. Throws DEVICE_NOT_FOUND.
     */
    async replaceCredential(
      deviceId: string,
      request: { credential?: string; certificateFingerprint?: string } = {},
    ): Promise<{ credential: string }> {
      const { credential = ids.secret(), certificateFingerprint = '' } = request;
      const login = { hash: hashSecret(credential), certificate: certificateFingerprint };
      await database.transact(
        async (unit) => {
          if (!(await updateCredential(unit, deviceId, login))) {
            throw new DomainError('DEVICE_NOT_FOUND');
          }
          await revoke(unit, deviceId, 'kept');
        },
        { device: deviceId },
      );
      return { credential };
    },

    /**
     * Offers another credential. The present one stays valid until the device logs in with the offered one; then it ends.
     * Another offer takes the place of this one. Throws DEVICE_NOT_FOUND.
     */
    async offerCredential(
      deviceId: string,
      { credential = ids.secret() }: { credential?: string } = {},
    ): Promise<{ credential: string }> {
      await database.transact(
        async (unit) => {
          if (!(await offerCredential(unit, deviceId, hashSecret(credential), clock.now())))
            throw new DomainError('DEVICE_NOT_FOUND');
        },
        { device: deviceId },
      );
      return { credential };
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

    /**
     * Checks the device's credential, or the certificate that it uses instead, and whether the device is blocked. A device
     * counts as blocked, too, while its developer or its application is being removed. A
     * unit of work passes itself as `sql`, so that the check sees its uncommitted changes. The first login of a device is
     * stored, because from then on it cannot enrol any more. A login with an offered credential ends the other one, and one
     * with an offered certificate the other certificate.
     */
    async authenticate(deviceId: string, proof: Proof, sql: Sql = database.read): Promise<'good' | 'bad' | 'blocked'> {
      const login = await findLogin(sql, deviceId);
      const match = login && matchOf(login, proof, clock.now());
      if (!match) return 'bad';
      if (login.blocked || login.leaves) return 'blocked';
      if (match === 'offered' && sql === database.read) {
        if (!(await takeOffer(deviceId, proof, login.nextHash))) return 'bad';
      } else if (login.neverLoggedIn && sql === database.read) {
        const first = (unit: UnitOfWork): Promise<boolean> => saveFirstLogin(unit, deviceId, login.hash);
        if (!(await database.transact(first, { device: deviceId, pace: 'crowd' }))) return 'bad';
      }
      owners.learn(deviceId, login.developerId);
      return 'good';
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
