import { type DomainError, ERRORS, errorBody } from '../errors.ts';
import { challengeOf } from './bearer.ts';
import type { Answer } from './route.ts';

// Seconds. The bound of requests in flight passes soon; that of unfinished transactions when the device comes online; the
// keys of the legacy issuer are fetched so often at most.
const RETRY_AFTER: Partial<Record<DomainError['code'], string>> = {
  OVERLOADED: '1',
  TOO_MANY_TRANSACTIONS: '60',
  LEGACY_ISSUER_UNAVAILABLE: '30',
};

/** The answer for an error: status and body by the table of errors, and the headers that HTTP wants with it. */
export function errorAnswer(error: DomainError, scope: string | null): Answer {
  const headers: Record<string, string> = {};
  const challenge = challengeOf(error.code, scope);
  if (challenge !== undefined) headers['WWW-Authenticate'] = challenge;
  const wait = RETRY_AFTER[error.code];
  if (wait !== undefined) headers['Retry-After'] = wait;
  if (error.code === 'METHOD_NOT_ALLOWED') headers['Allow'] = String(error.values.allow);
  return { status: ERRORS[error.code].status, body: errorBody(error), headers };
}
