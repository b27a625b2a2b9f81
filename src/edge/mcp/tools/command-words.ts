import { ERRORS } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import { time } from '../times.ts';
import { DEVICE_ERRORS } from './device-errors.ts';

type Row = SchemaTypes['common/transaction-row-list']['transactions'][number];

/** A code of this service as it is; one that a device has chosen is marked as data. */
export const code = (text: string | null | undefined): string =>
  text !== null && text !== undefined && (Object.hasOwn(ERRORS, text) || Object.hasOwn(DEVICE_ERRORS, text))
    ? text
    : data(text, 64);

/** A command in one line. */
export const commandLine = (row: Row): string =>
  [
    `${row.transactionId} ${row.operation}${row.subject === null ? '' : ` ${data(row.subject, 100)}`}: ${row.status}`,
    `device ${row.deviceId}`,
    `created ${time(row.createdAt)}`,
    row.completedAt !== null && `ended ${time(row.completedAt)}`,
    row.attempts > 0 && `published ${row.attempts} times`,
    row.progress !== null && row.completedAt === null && `progress ${row.progress}%`,
    row.error && `error ${code(row.error.code)} ${data(row.error.message, 120)}`,
    row.warning && `warning ${row.warning.code}`,
    row.rolloutId !== undefined && `rollout ${row.rolloutId}`,
  ]
    .filter(Boolean)
    .join(', ');
