import { DatabaseError } from 'pg';
import { DomainError } from '../../../errors.ts';
import { Unfit } from './unfit-server.ts';

// SQLSTATE (PostgreSQL, appendix A). What another try can mend: serialization_failure, deadlock_detected, lock_not_available.
const PASSING = new Set(['40001', '40P01', '55P03']);
// What no statement is at fault for: the connection (08), the operator (57: shutdown, restart, a statement that took too
// long), resources such as disk and memory (53), the system (58), a standby that cannot be written (25006), a transaction
// that was left alone for too long (25P03).
const AWAY = /^(08|53|57|58)|^25006$|^25P0[34]$/;

const codeOf = (cause: unknown): string =>
  cause instanceof DatabaseError ? (cause.code ?? '') : ((cause as { sqlstate?: string } | undefined)?.sqlstate ?? '');

/** Another transaction was in the way: the same again can succeed. */
export const isPassing = (cause: unknown): boolean => PASSING.has(codeOf(cause));

/** It would have been the second of what there can be one of, or belongs to what has just gone: seen when it is run again. */
export const isOvertaken = (cause: unknown): boolean => codeOf(cause) === '23505' || codeOf(cause) === '23503';

/** Somebody wants to write where that cannot be done: on a connection that only reads, or at a server that is a standby. */
export const isReadOnly = (cause: unknown): boolean => codeOf(cause) === '25006';

/** The connection that said so is of no use any more: another one may be. */
export const endsConnection = (cause: unknown): boolean =>
  cause instanceof DatabaseError && (cause.severity === 'FATAL' || cause.severity === 'PANIC' || isReadOnly(cause));

/** The connection has gone. Whether what was asked last was done, nobody knows. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the connection to the database was lost', { cause });
    this.name = 'ConnectionLost';
  }
}

/** What callers are told of an error: it is their business only when a statement of theirs is at fault. */
export function told(cause: unknown): unknown {
  const isAway = cause instanceof ConnectionLost || AWAY.test(codeOf(cause)) || isPassing(cause);
  return isAway ? new DomainError('DATABASE_UNAVAILABLE', { cause }) : cause;
}

/** Nobody is there yet, or not the one that can be written; what the server itself refuses does not pass. */
export const isAwayAtStart = (cause: unknown): boolean => {
  const code = codeOf(cause);
  return code === '' ? !(cause instanceof Unfit) : AWAY.test(code);
};
