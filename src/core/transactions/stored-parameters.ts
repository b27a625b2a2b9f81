import type { Sql } from '../../platform/database/sql.ts';
import type { Place } from '../../platform/encryption/vault.ts';
import type { Micros } from '../../runtime/units.ts';

/**
 * The place of the parameters of a transaction. They are encrypted before the database gives the transaction its number,
 * so its device, operation and time stand for it.
 */
export const placeOf = (row: { deviceId: string; operation: string; createdAt: Micros }): Place => [
  'transactions',
  'parameters',
  row.deviceId,
  row.operation,
  row.createdAt,
];

/** The parameters of a transaction, from the text that is stored. */
export const parametersOf = (sql: Sql, place: Parameters<typeof placeOf>[0], stored: string | null): object =>
  stored === null ? {} : (JSON.parse(sql.vault.open(placeOf(place), stored)) as object);
