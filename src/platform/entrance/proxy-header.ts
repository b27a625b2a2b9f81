import { isIPv4, isIPv6 } from 'node:net';
import { plainAddress } from '../../runtime/networks.ts';

/**
 * The result of reading the beginning of a connection: more bytes are needed, the bytes are no header of the PROXY
 * protocol, or the header has `bytes` bytes and names the client. `client` is null when the proxy speaks for itself, as
 * in its health checks, or does not know the client.
 */
export type ProxyHeader = 'more' | 'bad' | { bytes: number; client: string | null };

/** The most bytes of a header of version 1, with its line end. */
const LONGEST_LINE = 107;
/** The most bytes after the head of version 2. Addresses have 216 at most; the rest is what proxies add about TLS. */
const LONGEST_REST = 4096;
/** The most bytes that any header has. */
export const LONGEST_HEADER = 16 + LONGEST_REST;

const SIGNATURE = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const WORD = Buffer.from('PROXY ', 'latin1');
const HEAD = 16;
const VERSION = 2;
const LOCAL = 0;
const PROXY = 1;
const OVER_IPV4 = 0x11;
const OVER_IPV6 = 0x21;
/** Families up to AF_UNIX, and protocols up to DGRAM, are assigned; others must be refused. */
const LAST_FAMILY = 3;
const LAST_PROTOCOL = 2;

/** True when the data is a beginning of `whole`, or begins with it. */
const agrees = (data: Buffer, whole: Buffer): boolean => {
  const length = Math.min(data.length, whole.length);
  return data.subarray(0, length).equals(whole.subarray(0, length));
};

const isPort = (text: string): boolean => /^(0|[1-9]\d{0,4})$/.test(text) && Number(text) <= 65_535;

/** Reads a header of version 1, the text form. */
function readLine(data: Buffer): ProxyHeader {
  const end = data.subarray(0, LONGEST_LINE).indexOf('\r\n', 0, 'latin1');
  if (end < 0) return data.length < LONGEST_LINE ? 'more' : 'bad';
  const bytes = end + 2;
  const [, protocol, ...rest] = data.toString('latin1', 0, end).split(' ');
  if (protocol === 'UNKNOWN') return { bytes, client: null }; // the rest of the line must be ignored
  const isAddress = protocol === 'TCP4' ? isIPv4 : protocol === 'TCP6' ? isIPv6 : undefined;
  const [source = '', target = '', sourcePort = '', targetPort = '', ...more] = rest;
  if (!isAddress?.(source) || !isAddress(target) || more.length > 0) return 'bad';
  if (!isPort(sourcePort) || !isPort(targetPort)) return 'bad';
  return { bytes, client: plainAddress(source) ?? null };
}

/** Sixteen bytes as an IPv6 address. */
function ipv6Of(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  return groups.join(':');
}

/** Reads a header of version 2, the binary form. */
function readBinary(data: Buffer): ProxyHeader {
  if (data.length < HEAD) return 'more';
  const [version, command] = [data.readUInt8(12) >> 4, data.readUInt8(12) & 0x0f];
  const kind = data.readUInt8(13);
  const length = data.readUInt16BE(14);
  if (version !== VERSION || command > PROXY || length > LONGEST_REST) return 'bad';
  if (kind >> 4 > LAST_FAMILY || (kind & 0x0f) > LAST_PROTOCOL) return 'bad';
  const bytes = HEAD + length;
  const needed = kind === OVER_IPV4 ? 12 : kind === OVER_IPV6 ? 36 : 0;
  if (command === PROXY && length < needed) return 'bad';
  if (data.length < bytes) return 'more';
  if (command === LOCAL || needed === 0) return { bytes, client: null };
  const client = kind === OVER_IPV4 ? data.subarray(HEAD, HEAD + 4).join('.') : ipv6Of(data.subarray(HEAD, HEAD + 16));
  return { bytes, client: plainAddress(client) ?? null };
}

/**
 * Reads the header of the PROXY protocol, version 1 or 2, with which a connection begins. A receiver must not guess
 * whether there is one (section 2 of the specification), so a connection without it is `bad`.
 */
export function readProxyHeader(data: Buffer): ProxyHeader {
  if (agrees(data, SIGNATURE)) return readBinary(data);
  if (!agrees(data, WORD)) return 'bad';
  return data.length < WORD.length ? 'more' : readLine(data);
}
