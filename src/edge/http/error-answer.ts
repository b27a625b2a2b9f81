import { type DomainError, ERRORS, errorBody } from '@lapel/schemas/contracts/errors';
import { challengeOf } from './bearer.ts';
import type { Answer } from './route.ts';

// The `Retry-After` of errors that pass: seconds until a repeated request may succeed. The database after a failover,
// and the object store, are usually back soon. Requests in work end sooner. Unfinished transactions end when the device
// comes online, and rollouts end with them. The keys of the legacy issuer are fetched at most every 30 s, and a provider
// of sign-ins that has failed is asked again after 5 s. An operator adds an encryption key that is missing.
const RETRY_AFTER: Partial<Record<DomainError['code'], string>> = {
  DATABASE_UNAVAILABLE: '2',
  OBJECT_STORE_UNAVAILABLE: '2',
  OVERLOADED: '1',
  NOT_READY: '1',
  FEEDS_IN_USE: '10',
  TOO_MANY_TRANSACTIONS: '60',
  TOO_MUCH_QUEUED: '60',
  TOO_MANY_ROLLOUTS: '60',
  REDELIVERY_RUNNING: '10',
  QUOTA_EXCEEDED: '3600',
  LEGACY_ISSUER_UNAVAILABLE: '30',
  ENCRYPTION_KEY_MISSING: '10',
  SIGN_IN_UNAVAILABLE: '5',
};

/** The headers that HTTP and the interface require with an error. */
export function errorHeaders(error: DomainError, scope: string | null): Record<string, string> {
  const headers: Record<string, string> = { 'Lapel-Error-Code': error.code };
  const challenge = challengeOf(error.code, scope);
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  const wait = error.code === 'RATE_LIMITED' ? String(error.values.seconds) : RETRY_AFTER[error.code];
  if (wait !== undefined) headers['Retry-After'] = wait;
  if (error.code === 'METHOD_NOT_ALLOWED') headers['Allow'] = String(error.values.allow);
  return headers;
}

/** The answer for an error. The table in `schemas/contracts/errors.ts` gives its status and text. */
export const errorAnswer = (error: DomainError, scope: string | null): Answer => ({
  status: ERRORS[error.code].status,
  body: errorBody(error),
  headers: errorHeaders(error, scope),
});
