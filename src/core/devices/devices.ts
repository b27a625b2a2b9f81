import { DomainError } from '../../errors.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Owners } from '../../runtime/device-owners.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hashSecret, matchesSecret } from '../../runtime/secret-hash.ts';
import { requireActivatedDevice, requireLinkedDevice } from './activation.ts';
import {
  type Device,
  deleteDevice,
  findCredentialHash,
  findDevice,
  findLogin,
  insertDevice,
  listDevices,
  updateCredential,
  updateDevice,
} from './device-repository.ts';
import { deleteStatus } from './status-repository.ts';

/**
 * In a unit, at whose commit the device's connection, if any, ends: its credential stopped, or it is gone; then its will is
 * of no meaning.
 */
export type Revoke = (unit: UnitOfWork, deviceId: string, will: 'kept' | 'dropped') => Promise<void> | undefined;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  /** Throws DEVELOPER_NOT_FOUND unless the developer exists. */
  requireDeveloper(developerId: string, sql?: Sql): Promise<unknown>;
  owners: Pick<Owners, 'learn'>;
  revoke: Revoke;
  /** What others keep of a device, to be forgotten in the unit of work in which it goes. */
  forgetting: ((unit: UnitOfWork, deviceId: string) => Promise<void>)[];
  /** What others keep of a device also when it is moved, and forget when it is removed. */
  removed(unit: UnitOfWork, deviceId: string): Promise<unknown>;
  /** Ends every transaction of a device that goes, and its activation; its application is told. */
  endTransactions(unit: UnitOfWork, device: Device): Promise<void>;
}

export type Devices = ReturnType<typeof createDevices>;

/** Registration, credentials and properties of devices (administration), and what an application may know of one (op 4). */
export function createDevices({
  database,
  clock,
  ids,
  requireDeveloper,
  owners,
  revoke,
  forgetting,
  removed,
  endTransactions,
}: Parts) {
  const existing = async (deviceId: string): Promise<Device> => {
    const device = await findDevice(database.read, deviceId);
    if (!device) throw new DomainError('DEVICE_NOT_FOUND');
    return device;
  };

  /** Registers a device; the credential (given, or made) is shown here only. Throws DEVELOPER_NOT_FOUND, DEVICE_EXISTS. */
  async function register(request: {
    developerId: string;
    deviceId: string;
    hardwareProperties?: object | null;
    credential?: string;
  }): Promise<{ deviceId: string; credential: string }> {
    const { deviceId, developerId, hardwareProperties = null, credential = ids.secret() } = request;
    const device = { deviceId, developerId, hardwareProperties, createdAt: clock.now() };
    await database.transact(async (unit) => {
      await requireDeveloper(developerId, unit); // here, so that two of one identifier have their turns as they came
      if (!(await insertDevice(unit, device, hashSecret(credential)))) throw new DomainError('DEVICE_EXISTS');
    }, deviceId);
    return { deviceId, credential };
  }

  /** Everything that a device has said and that is kept of its connections; it has to come back anew. */
  async function forget(unit: UnitOfWork, device: Device): Promise<void> {
    const { deviceId } = device;
    await endTransactions(unit, device);
    await deleteStatus(unit, deviceId);
    for (const forgotten of forgetting) await forgotten(unit, deviceId);
    await revoke(unit, deviceId, 'dropped');
  }

  return {
    register,

    /**
     * The same; but a device that is there as it would be made, with the credential given, is answered as if it were new:
     * registering it again, after an answer was lost, changes nothing.
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
     * Changes properties, blocks a device or lets it connect again, or moves a deactivated device to another developer,
     * who sees nothing of what it said before. Throws DEVICE_NOT_FOUND, DEVICE_IN_USE, DEVELOPER_NOT_FOUND.
     */
    async update(
      deviceId: string,
      change: { hardwareProperties?: object | null; developerId?: string; blocked?: boolean },
    ): Promise<Device> {
      if (change.developerId !== undefined) await requireDeveloper(change.developerId);
      return database.transact(async (unit) => {
        const device = await findDevice(unit, deviceId);
        if (!device) throw new DomainError('DEVICE_NOT_FOUND');
        const changed = { ...device, ...change };
        if (changed.developerId !== device.developerId) {
          if (device.activation !== 'deactivated') throw new DomainError('DEVICE_IN_USE');
          await forget(unit, device);
          unit.onCommit(() => owners.learn(deviceId, changed.developerId));
        }
        await updateDevice(unit, changed);
        if (changed.blocked) await revoke(unit, deviceId, 'dropped');
        return changed;
      }, deviceId);
    },

    /**
     * Removes a device with its MQTT session, its status and its presence. With `force` also an activated one: what is
     * unfinished ends, and its application is told. Throws DEVICE_NOT_FOUND, DEVICE_IN_USE.
     */
    async remove(deviceId: string, { force = false } = {}): Promise<void> {
      // Without the device's key: it can end an activation, which is a matter of its application, too.
      await database.transact(async (unit) => {
        const device = await findDevice(unit, deviceId, unit.forUpdate);
        if (!device) throw new DomainError('DEVICE_NOT_FOUND');
        if (device.activation !== 'deactivated' && !force) throw new DomainError('DEVICE_IN_USE');
        await forget(unit, device);
        await removed(unit, deviceId);
        await deleteDevice(unit, deviceId);
      });
    },

    /**
     * A new credential; the old one stops at once, and with it every client certificate but the one that is named. Its
     * connection is closed. Throws DEVICE_NOT_FOUND.
     */
    async replaceCredential(
      deviceId: string,
      request: { credential?: string; certificateFingerprint?: string } = {},
    ): Promise<{ credential: string }> {
      const { credential = ids.secret(), certificateFingerprint = '' } = request;
      const login = { hash: hashSecret(credential), certificate: certificateFingerprint };
      await database.transact(async (unit) => {
        if (!(await updateCredential(unit, deviceId, login))) {
          throw new DomainError('DEVICE_NOT_FOUND');
        }
        await revoke(unit, deviceId, 'kept');
      }, deviceId);
      return { credential };
    },

    /** Closes the connection of a device, if it has one, wherever that is; it may come back. Throws DEVICE_NOT_FOUND. */
    async disconnect(deviceId: string): Promise<void> {
      await database.transact(async (unit) => {
        if (!(await findDevice(unit, deviceId))) throw new DomainError('DEVICE_NOT_FOUND');
        await revoke(unit, deviceId, 'kept');
      }, deviceId);
    },

    /**
     * Whether the credential is the device's own, or a certificate that names it as good as that; and whether it may
     * connect; as committed, or as a unit sees it.
     */
    async authenticate(
      deviceId: string,
      proof: { credential: string | Buffer } | { certificateFingerprint: string },
      sql: Sql = database.read,
    ): Promise<'good' | 'bad' | 'blocked'> {
      const login = await findLogin(sql, deviceId);
      const matches =
        'credential' in proof
          ? matchesSecret(proof.credential, login?.hash)
          : login !== undefined && (login.certificate ?? proof.certificateFingerprint) === proof.certificateFingerprint;
      if (!login || !matches) return 'bad';
      if (login.blocked) return 'blocked';
      owners.learn(deviceId, login.developerId);
      return 'good';
    },

    /** The device, when it is linked to the developer (op 9). Throws DEVICE_UNAVAILABLE. */
    requireLinked: (developerId: string, deviceId: string): Promise<Device> =>
      requireLinkedDevice(database.read, deviceId, developerId),

    /** The device, when it is activated for the application. Throws as requireActivatedDevice. */
    requireActivated: (owner: { applicationId: string; developerId: string }, deviceId: string): Promise<Device> =>
      requireActivatedDevice(database.read, deviceId, owner),

    /**
     * Activation status for one application (op 4). An activation that waits for the device counts as deactivated.
     * Throws DEVICE_UNAVAILABLE, DEVICE_ACTIVATED_ELSEWHERE.
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
