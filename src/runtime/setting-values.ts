import type { Kind } from '@lapel/schemas/contracts/settings';
import { hostsOf } from './database-hosts.ts';
import { readNetworks } from './networks.ts';

const PROXY_HEADERS = ['any', 'forwarded', 'x-forwarded'];
/** The listeners whose connections may begin with a header of the PROXY protocol. */
export const PROXIED = ['api', 'admin', 'objects', 'mqtt', 'mqtts', 'ws'] as const;
const LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'];
/** Matches addresses that only this machine can reach. */
export const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1|\[::1\])$/;

/** True for a URL whose answers nobody on the network can change: https, or http on loopback. */
function isEndpoint(value: string): boolean {
  const url = /^https?:\/\/[^/?#]/.test(value) ? URL.parse(value) : null;
  return url !== null && url.hash === '' && (url.protocol === 'https:' || LOOPBACK.test(url.hostname));
}

/** True for the URLs of listeners for devices, separated by commas, at most one of each scheme. */
function areMqttUrls(value: string): boolean {
  const schemes = value.split(',').map((text) => /^(mqtts?|wss?):\/\/[^/?#@\s]+(\/[^?#\s]*)?$/.exec(text.trim())?.[1]);
  const known = schemes.filter((scheme) => scheme !== undefined);
  const areUrls = value.split(',').every((text) => URL.canParse(text.trim()));
  return areUrls && known.length === schemes.length && new Set(known).size === known.length;
}

/** True for the address of a receiver of syslog messages. */
const isSyslog = (value: string): boolean =>
  /^(tls|tcp|udp):\/\/[^/?#@\s]+:\d{1,5}$/.test(value) && Number(URL.parse(value)?.port) > 0;

/** The fault of a value of a setting, for people; null when the value is good. */
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
      return /^[a-z0-9.,_-]+$/i.test(value) ? null : `must be host names separated by commas, not "${value}"`;
    case 'database': // the value is left out of the text: it holds a password
      return hostsOf(value)
        ? null
        : 'must be a URL like postgres://USER:PASSWORD@HOST:PORT/DATABASE, or with several hosts (HOST:PORT,HOST:PORT) that share the database; target_session_attrs can only be read-write, primary or any';
    case 'networks':
      return readNetworks(value)
        ? null
        : `must be IP addresses and networks such as 10.0.0.0/8, or "loopback", separated by commas, not "${value}"`;
    case 'proxyHeader':
      return PROXY_HEADERS.includes(value) ? null : `must be one of ${PROXY_HEADERS.join(', ')}, not "${value}"`;
    case 'listeners':
      return value.split(',').every((name) => (PROXIED as readonly string[]).includes(name.trim()))
        ? null
        : `must be names of listeners (${PROXIED.join(', ')}) separated by commas, not "${value}"`;
    case 'headerName':
      return /^[a-z0-9-]{1,64}$/i.test(value) ? null : `must be the name of a header, not "${value}"`;
    case 'mqttUrls':
      return areMqttUrls(value)
        ? null
        : `must be mqtt, mqtts, ws or wss URLs separated by commas, at most one of each, not "${value}"`;
    case 'syslog':
      return isSyslog(value) ? null : `must be tls://HOST:PORT, tcp://HOST:PORT or udp://HOST:PORT, not "${value}"`;
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
