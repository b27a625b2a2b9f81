import { DomainError } from '@lapel/schemas/contracts/errors';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Application } from '../applications/application-repository.ts';
import type { Applications } from '../applications/applications.ts';
import { findDevice } from '../devices/device-repository.ts';

/** Finds the application for which a device is activated. Throws DEVICE_NOT_ACTIVATED, also for a removed device. */
export async function requireOwner(
  unit: UnitOfWork,
  deviceId: string,
  findApplication: Applications['findIn'],
): Promise<Application> {
  const device = await findDevice(unit, deviceId);
  if (device?.activation !== 'activated' || device.applicationId === null) {
    throw new DomainError('DEVICE_NOT_ACTIVATED');
  }
  return findApplication(unit, device.applicationId);
}
