import { hostsOf } from './database-hosts.ts';

/** What a setting may be. */
export type Kind =
  | 'text'
  | 'port'
  | 'count'
  | 'number'
  | 'flag'
  | 'url'
  | 'level'
  | 'timeZone'
  | 'release'
  | 'endpoint'
  | 'hosts'
  | 'database';

const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** Addresses that only this machine reaches. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/** Nobody on the way may change what it answers. */
function isEndpoint(value: string): boolean {
  const url = /^https?:\/\/[^/?#]/.test(value) ? URL.parse(value) : null;
  return url !== null && url.hash === '' && (url.protocol === 'https:' || LOOPBACK.test(url.hostname));
}

/** What is wrong with a value of a setting, for people; null when nothing is. */
export function problemOf(kind: Kind, value: string): string | null {
  switch (kind) {
    case 'text':
      return value === '' ? 'must not be empty' : null;
    case 'port':
      return /^\d{1,5}$/.test(value) && Number(value) <= 65535
        ? null
        : `must be a port from 0 to 65535, not "${value}"`;
    case 'count':
      return /^[1-9]\d{0,8}$/.test(value) ? null : `must be a whole number above 0, not "${value}"`;
    case 'number':
      return /^(0|[1-9]\d{0,8})$/.test(value) ? null : `must be a whole number, not "${value}"`;
    case 'flag':
      return value === 'true' || value === 'false' ? null : `must be true or false, not "${value}"`;
    case 'url':
      return /^https?:\/\/[^/?#][^?#]*$/.test(value) && URL.canParse(value)
        ? null
        : `must be an absolute http or https URL without query, not "${value}"`;
    case 'endpoint':
      return isEndpoint(value) ? null : `must be an absolute https URL (or http on loopback), not "${value}"`;
    case 'hosts':
      return /^[a-z0-9.,_-]+$/i.test(value) ? null : `must be names of hosts with commas between them, not "${value}"`;
    case 'database': // never named in the answer: it holds a password
      return hostsOf(value)
        ? null
        : 'must be a URL like postgres://USER:PASSWORD@HOST:PORT/DATABASE, with several hosts behind one another (HOST:PORT,HOST:PORT) where they share it; target_session_attrs can only be read-write';
    case 'level':
      return LEVELS.includes(value) ? null : `must be one of ${LEVELS.join(', ')}, not "${value}"`;
    case 'release':
      return /^\d{4}-(0[1-9]|1[0-2])$/.test(value) ? null : `must be a release like 2026-11, not "${value}"`;
    case 'timeZone':
      try {
        new Intl.DateTimeFormat('en-US', { timeZone: value });
        return null;
      } catch {
        return `must be an IANA time zone, not "${value}"`;
      }
  }
}
