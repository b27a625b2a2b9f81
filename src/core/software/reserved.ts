import { DomainError } from '@lapel/schemas/contracts/errors';

/**
 * Endpoint rules 5 and 8: developers may not use the service's own names, regardless of case (people and file systems may
 * not distinguish `Com.Lapel` from `com.lapel`). The prefix without its final dot is reserved too. Throws REQUEST_INVALID.
 */
export function requireUnreserved(name: string, prefix: string): void {
  const reserved = prefix.toLowerCase();
  const given = name.toLowerCase();
  if (!given.startsWith(reserved) && `${given}.` !== reserved) return;
  throw DomainError.invalid({
    loc: ['body', 'package'],
    msg: `String should not ${given.length < reserved.length ? 'be' : 'start with'} '${prefix.slice(0, name.length)}'`,
    type: 'string_pattern_mismatch',
  });
}
