import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { listed } from '../../platform/objects/preconditions.ts';

/**
 * The entity tag of the fields that a PATCH can change. Other fields of the same answer, such as counts, change without
 * anybody having asked, and so they are no part of it.
 */
export function entityTag(state: unknown): string {
  const digest = createHash('sha256').update(JSON.stringify(state)).digest('base64url');
  return `"${digest.slice(0, 22)}"`;
}

/**
 * Makes the check of `If-Match` (RFC 9110 13.1.1), for the unit of work that changes the object: it throws
 * PRECONDITION_FAILED when the state there is another one than the caller has seen. A request without the header changes
 * any state.
 */
export function matcher(headers: IncomingHttpHeaders): (state: unknown) => void {
  const wanted = headers['if-match'];
  return (state) => {
    // Entity tags have no commas here, and a weak one never matches.
    if (wanted !== undefined && !listed(wanted, entityTag(state))) throw new DomainError('PRECONDITION_FAILED');
  };
}
