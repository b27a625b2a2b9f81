import { inOneGo } from '../database/in-one-go.ts';
import type { UnitOfWork } from '../database/sql.ts';
import type { Fence } from './ownership.ts';

/**
 * Waits for a read of a unit of work and for the fence of its connection, if it has one: both are one round trip. Throws the
 * error of the fence when the device has a newer connection.
 */
export const fenced = async <Result>(
  unit: UnitOfWork,
  fence: Fence | undefined,
  read: Promise<Result>,
): Promise<Result> => (fence ? (await inOneGo(fence(unit), read))[1] : read);
