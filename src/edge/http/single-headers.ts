import { DomainError } from '@lapel/schemas/contracts/errors';

/**
 * Refuses a repeated header that must have one value (RFC 9110 5.3): a proxy may have looked at one of the values and
 * Node at the other (RFC 9112 3.2). Also refuses an HTTP/1.1 request without `Host` (RFC 9112 3.2). Throws
 * REQUEST_INVALID for the first such header. `raw` has names and values in turn.
 */
export function checkSingleHeaders(raw: readonly string[], httpVersion: string): void {
  let seen = 0;
  for (let index = 0; index < raw.length; index += 2) {
    const bit = bitOf(raw[index]!);
    if ((seen & bit) !== 0) {
      const msg = 'Header should be given once';
      throw DomainError.invalid({ loc: ['header', raw[index]!], msg, type: 'extra_forbidden' });
    }
    seen |= bit;
  }
  if ((seen & HOST) === 0 && httpVersion === '1.1') {
    throw DomainError.invalid({ loc: ['header', 'Host'], msg: 'Field required', type: 'missing' });
  }
}

const HOST = 1;

/** A bit for each header that must not be repeated, 0 for all others. Most names differ by their length alone. */
function bitOf(name: string): number {
  switch (name.length) {
    case 4:
      return name.toLowerCase() === 'host' ? HOST : 0;
    case 12:
      return name.toLowerCase() === 'content-type' ? 2 : 0;
    case 13:
      return name.toLowerCase() === 'authorization' ? 4 : 0;
    case 15:
      return name.toLowerCase() === 'idempotency-key' ? 8 : 0;
    default:
      return 0;
  }
}
