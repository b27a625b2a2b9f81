import { DomainError } from '@lapel/schemas/contracts/errors';

const HEADER = 'Idempotency-Key';
const LONGEST = 255;
const BARE = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/;
// A Structured Field string (RFC 9651 3.3.3): printable ASCII in which only " and \ are escaped.
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;

/**
 * Reads the Idempotency-Key header: quoted as in the draft standard (draft-ietf-httpapi-idempotency-key-header), or
 * without quotes as most callers send it. Undefined without the header. Throws REQUEST_INVALID for a key that does not
 * have 1 to 255 characters of printable ASCII.
 */
export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const text = String(header);
  const key = text.startsWith('"') ? QUOTED.exec(text)?.[1]?.replace(/\\(.)/g, '$1') : BARE.exec(text)?.[0];
  if (key === '' || text === '') throw fault(`should have at least 1 character`, 'string_too_short');
  if (key === undefined) throw fault('should be printable ASCII, bare or a quoted string', 'string_pattern_mismatch');
  if (key.length > LONGEST) throw fault(`should have at most ${LONGEST} characters`, 'string_too_long');
  return key;
}

function fault(problem: string, type: string): DomainError {
  return DomainError.invalid({ loc: ['header', HEADER], msg: `String ${problem}`, type });
}
