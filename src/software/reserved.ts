import { DomainError } from '../errors.ts';

/** Endpoint rules 5 and 8: the service's own names are not for developers. Throws REQUEST_INVALID. */
export function requireUnreserved(name: string, prefix: string): void {
  if (!name.startsWith(prefix)) return;
  throw DomainError.invalid({
    loc: ['body', 'package'],
    msg: `String should not start with '${prefix}'`,
    type: 'string_pattern_mismatch',
  });
}
