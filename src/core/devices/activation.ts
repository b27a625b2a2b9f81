import { DomainError } from '@lapel/schemas/contracts/errors';
import { inOneGo } from '../../platform/database/in-one-go.ts';
import type { Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Micros } from '../../runtime/units.ts';
import { findHeldSlots, type HeldSlots, saveHeldSlots } from '../applications/developer-repository.ts';
import { countHeldSlots, type Device, findDevice, isClientIdTaken, setActivation } from './device-repository.ts';
import { removeNotesOfApplication } from './note-repository.ts';
import { forgetSettings } from './setting-repository.ts';
import { removeTags } from './tag-repository.ts';

/**
 * Finds a device that is linked to the developer; otherwise throws DEVICE_UNAVAILABLE. A unit of work that was begun
 * without the deviceId as its `key` has not locked the device; it passes `lock` (its `forUpdate`) if its decision
 * depends on the device.
 */
export async function requireLinkedDevice(
  sql: Sql,
  deviceId: string,
  developerId: string,
  lock: Lock = '',
): Promise<Device> {
  const device = await findDevice(sql, deviceId, lock);
  if (device?.developerId !== developerId) throw new DomainError('DEVICE_UNAVAILABLE');
  return device;
}

/**
 * Finds a device that is activated for the application (ops 6, 10, 11); otherwise throws DEVICE_UNAVAILABLE,
 * DEVICE_ACTIVATED_ELSEWHERE or DEVICE_NOT_ACTIVATED.
 */
export async function requireActivatedDevice(
  sql: Sql,
  deviceId: string,
  owner: { applicationId: string; developerId: string },
  lock: Lock = '',
): Promise<Device> {
  const device = await requireLinkedDevice(sql, deviceId, owner.developerId, lock);
  if (device.activation !== 'activated') throw new DomainError('DEVICE_NOT_ACTIVATED');
  if (device.applicationId !== owner.applicationId) throw new DomainError('DEVICE_ACTIVATED_ELSEWHERE');
  return device;
}

/**
 * Microseconds after which the devices of a developer are counted again, at the next activation. A node of a former release,
 * which works beside this one during an upgrade, does not raise the bound.
 */
const COUNTED_FOR = 3_600_000_000;

/**
 * Returns the bound with one more place of the contract held; undefined when all are held. To keep a large fleet from slowing
 * down each activation, a bound is stored: at least the number of devices that hold a place. It rises with each activation,
 * and only when it reaches the contract, or is old, are the devices counted. The unit has locked the developer.
 */
async function withOneMore(
  unit: UnitOfWork,
  { developerId, deviceLimit }: { developerId: string; deviceLimit: number | null },
  known: HeldSlots | undefined,
  now: Micros,
): Promise<HeldSlots | undefined> {
  if (deviceLimit === null) return undefined;
  const { atMost, countedAt } = known ?? { atMost: null, countedAt: null };
  const isOld = countedAt === null || now < countedAt || now - countedAt >= COUNTED_FOR;
  if (atMost !== null && atMost < deviceLimit && !isOld) return { atMost: atMost + 1, countedAt };
  const counted = await countHeldSlots(unit, developerId);
  return counted < deviceLimit ? { atMost: counted + 1, countedAt: now } : undefined;
}

/**
 * Counts a device that is about to be activated (op 5) against the contract of its developer, and reserves its client
 * identifier. Both happen before the device confirms, and the caller has locked the developer and the application, so
 * concurrent activations cannot exceed the contract. Throws DEVICE_UNAVAILABLE, DEVICE_ALREADY_ACTIVATED,
 * ACTIVATION_LIMIT or CLIENT_ID_IN_USE.
 */
export async function holdActivation(
  unit: UnitOfWork,
  request: { deviceId: string; applicationId: string; clientId: string },
  developer: { developerId: string; deviceLimit: number | null },
  now: Micros,
): Promise<void> {
  const [device, isTaken, held] = await inOneGo(
    requireLinkedDevice(unit, request.deviceId, developer.developerId, unit.forUpdate),
    isClientIdTaken(unit, request.clientId),
    findHeldSlots(unit, developer.developerId),
  );
  if (device.activation !== 'deactivated') throw new DomainError('DEVICE_ALREADY_ACTIVATED');
  const nowHeld = await withOneMore(unit, developer, held, now);
  if (!nowHeld) throw new DomainError('ACTIVATION_LIMIT');
  if (isTaken) throw new DomainError('CLIENT_ID_IN_USE');
  saveHeldSlots(unit, developer.developerId, nowHeld);
  setActivation(unit, device, {
    activation: 'activating',
    applicationId: request.applicationId,
    clientId: request.clientId,
  });
}

/** Marks a device as activated, after it has confirmed its activation. The unit has locked the device. */
export async function completeActivation(unit: UnitOfWork, deviceId: string): Promise<void> {
  const device = await findDevice(unit, deviceId);
  if (device?.activation === 'activating') setActivation(unit, device, { ...device, activation: 'activated' });
}

/**
 * Marks a device as deactivated: it no longer counts against the contract, its client identifier is free, and its tags,
 * the settings that it took and the notes of its application are removed. This follows an activation that failed or was cancelled, and a successful
 * deactivation. The unit has locked the device.
 */
export async function releaseActivation(unit: UnitOfWork, deviceId: string): Promise<void> {
  const device = await findDevice(unit, deviceId);
  if (!device) return;
  setActivation(unit, device, { activation: 'deactivated', applicationId: null, clientId: null });
  removeTags(unit, deviceId);
  forgetSettings(unit, deviceId);
  removeNotesOfApplication(unit, deviceId);
}
