import { columnOf, SETTING_NAMES } from '../applications/setting-columns.ts';

/** The columns of a table whose values are encrypted, and how its rows are found again. */
export interface SealedTable {
  table: string;
  columns: readonly string[];
  /** The columns by which the rows are walked through; together they identify a row. */
  key: readonly string[];
  /** The columns that stand for the row in the place of a value, as the repository of the table names it. */
  row: readonly string[];
  /**
   * The rows that one unit of work may change on PostgreSQL, without waiting for units that wait for it: those of one
   * device, under its lock; one row; or many, in the order of the key.
   */
  together: 'device' | 'one' | 'many';
  /** The condition of the rows that can have a value, if an index has only these. */
  where?: string;
}

/**
 * All columns with secrets that must be readable again. Secrets that are only compared are stored as SHA-256, so they are
 * not here. No value of these columns is searched or compared in the database.
 */
export const SEALED_TABLES: readonly SealedTable[] = [
  { table: 'audit_chain', columns: ['seal'], key: ['one'], row: ['one'], together: 'one' },
  { table: 'signing_keys', columns: ['private_jwk'], key: ['key_id'], row: ['key_id'], together: 'one' },
  {
    table: 'applications',
    columns: ['authentication_key', 'former_authentication_key', ...SETTING_NAMES.map(columnOf)],
    key: ['application_id'],
    row: ['application_id'],
    together: 'one',
  },
  {
    table: 'endpoints',
    columns: ['url', 'secret', 'former_secret'],
    key: ['application_id', 'endpoint_id'],
    row: ['application_id', 'endpoint_id'],
    together: 'one',
  },
  {
    table: 'transactions',
    columns: ['parameters'],
    key: ['device_id', 'transaction_id'],
    row: ['device_id', 'operation', 'created_at'],
    together: 'device',
    where: 'due = 1', // a finished transaction has lost its parameters
  },
  {
    table: 'device_authorities',
    columns: ['private_key'],
    key: ['authority_id'],
    row: ['authority_id'],
    together: 'one',
  },
  { table: 'rollouts', columns: ['asked'], key: ['rollout_id'], row: ['rollout_id'], together: 'one' },
  {
    table: 'rollout_values',
    columns: ['parameters'],
    key: ['rollout_id', 'device_id'],
    row: ['rollout_id', 'device_id'],
    together: 'one',
  },
  {
    table: 'device_settings',
    columns: ['parameters'],
    key: ['device_id', 'kind'],
    row: ['device_id', 'kind'],
    together: 'device',
  },
  {
    table: 'device_requests',
    columns: ['answer'],
    key: ['device_id', 'request_id'],
    row: ['device_id', 'request_id', 'received_at'],
    together: 'device',
  },
  {
    table: 'deliveries',
    columns: ['url'],
    key: ['application_id', 'delivery_id'],
    row: ['application_id', 'delivery_id'],
    together: 'many',
  },
];
