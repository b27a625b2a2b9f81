import { DomainError } from '../../errors.ts';

/**
 * Endpoint rules 5 and 8: the service's own names are not for developers, in whatever case (a person, and a file system,
 * may not tell `Com.Lapel` from `com.lapel`), nor is the name that the prefix is of. Throws REQUEST_INVALID.
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
