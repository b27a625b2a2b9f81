import { DomainError } from '@lapel/schemas/contracts/errors';
import { DatabaseError } from 'pg';
import { Unfit } from './unfit-server.ts';

// SQLSTATE (PostgreSQL, appendix A). Errors that may not recur: serialization_failure, deadlock_detected,
// lock_not_available.
const PASSING = new Set(['40001', '40P01', '55P03']);
// Errors that no statement causes: of the connection (08), the operator (57: shutdown, restart, a statement that took too
// long), resources such as disk and memory (53), the system (58), a standby that cannot be written (25006), a transaction
// that was idle for too long (25P03).
const AWAY = /^(08|53|57|58)|^25006$|^25P0[34]$/;

const codeOf = (cause: unknown): string =>
  cause instanceof DatabaseError ? (cause.code ?? '') : ((cause as { sqlstate?: string } | undefined)?.sqlstate ?? '');

/** Another transaction was in the way; another try may succeed. */
export const isPassing = (cause: unknown): boolean => PASSING.has(codeOf(cause));

/**
 * Another transaction has inserted the same key first, or has deleted a row that this transaction refers to. When the
 * unit of work runs again, it sees that change and decides anew.
 */
export const isOvertaken = (cause: unknown): boolean => codeOf(cause) === '23505' || codeOf(cause) === '23503';

/** A write was refused, on a connection that only reads, or because the server is a standby. */
export const isReadOnly = (cause: unknown): boolean => codeOf(cause) === '25006';

/** The server lacks disk or memory (53), or could not write a file (58). */
export const isShort = (cause: unknown): cause is Error => /^5[38]/.test(codeOf(cause));

/** The connection cannot be used after this error; a new one may work. */
export const endsConnection = (cause: unknown): boolean =>
  cause instanceof DatabaseError && (cause.severity === 'FATAL' || cause.severity === 'PANIC' || isReadOnly(cause));

/** The connection was lost. It is unknown whether its last statements were carried out. */
export class ConnectionLost extends Error {
  constructor(cause: unknown) {
    super('the connection to the database was lost', { cause });
    this.name = 'ConnectionLost';
  }
}

/** The error for callers: DATABASE_UNAVAILABLE, unless their own statement is at fault. */
export function toCallerError(cause: unknown): unknown {
  const isAway = cause instanceof ConnectionLost || AWAY.test(codeOf(cause)) || isPassing(cause);
  return isAway ? new DomainError('DATABASE_UNAVAILABLE', { cause }) : cause;
}

/** The errors of Node for a certificate that no known CA has signed, or whose time is over. */
const UNTRUSTED = /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_\w+|CERT_\w+)$/;

/** The sentence about a server or a URL that must be changed before a start can succeed; undefined for other errors. */
export function faultAtStart(cause: unknown): string | undefined {
  const { message = '', code = '' } = cause as { message?: string; code?: string };
  if (cause instanceof Unfit) return message;
  if (codeOf(cause) === '42501')
    return `PostgreSQL refuses the role: ${message}; the service creates and changes its tables, so it must own them`;
  if (message === 'The server does not support SSL connections')
    return 'PostgreSQL does not offer TLS, which sslmode asks for';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate of PostgreSQL is for another host name';
  if (UNTRUSTED.test(code))
    return `the certificate of PostgreSQL is not trusted (${code}): sslrootcert=FILE names the file of its CA`;
  return undefined;
}

/**
 * Whether waiting at the start may help: no server answers yet, or only a standby, which cannot be written. If the
 * server has settings that the service refuses, waiting does not help.
 */
export const isAwayAtStart = (cause: unknown): boolean => {
  const code = codeOf(cause);
  return code === '' ? faultAtStart(cause) === undefined : AWAY.test(code);
};

/** A lost connection has neither a lock nor a transaction any more. Its first error tells more than that it is lost. */
export const unlessLost = (ended: Promise<unknown>): Promise<unknown> =>
  ended.catch((cause: unknown) => {
    if (!(cause instanceof ConnectionLost)) throw cause;
  });
