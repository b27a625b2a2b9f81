import { createHash } from 'node:crypto';

// The tags of DER elements that this file looks for (X.690 8.1.2).
const INTEGER = 0x02;
const UTC_TIME = 0x17;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const VERSION = 0xa0;

interface Element {
  tag: number;
  /** All bytes of the element, including its tag and length. */
  whole: Buffer;
  body: Buffer;
}

/** Splits DER into its elements. Throws a RangeError when an element exceeds the data. */
function elementsOf(der: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < der.length; ) {
    const tag = der.readUInt8(at);
    const short = der.readUInt8(at + 1);
    const lengthBytes = short < 0x80 ? 0 : short & 0x7f;
    const start = at + 2 + lengthBytes;
    const length = lengthBytes === 0 ? short : der.readUIntBE(at + 2, lengthBytes);
    if (start + length > der.length) throw new RangeError('a DER element exceeds the data');
    found.push({ tag, whole: der.subarray(at, start + length), body: der.subarray(start, start + length) });
    at = start + length;
  }
  return found;
}

/** The elements of the signed part of a certificate or CRL, beginning with the version. */
function signedPart(der: Buffer): Element[] {
  const [outer] = elementsOf(der);
  const [signed] = elementsOf(outer?.body ?? Buffer.alloc(0));
  return elementsOf(signed?.body ?? Buffer.alloc(0));
}

const BLOCK = /-----BEGIN X509 CRL-----([A-Za-z0-9+/=\s]+?)-----END X509 CRL-----/g;

/** A revocation list: the CA that it is for, and its times in seconds since 1970. */
interface RevocationList {
  issuer: string;
  begins: number;
  /** Infinity when the CA names no time. */
  expires: number;
}

/** The certificates that revocation lists name. */
export interface Revoked {
  /** Whether a certificate, of which `raw` is the DER, is revoked. */
  has(certificate: { raw: Buffer }): boolean;
  /**
   * Whether the CA of a certificate has a list that is in date now, in seconds since 1970. TLS accepts no certificate
   * without such a list.
   */
  covers(certificate: { raw: Buffer }, now: number): boolean;
  /** The list that is out of date first; undefined when none names a time. */
  firstToExpire: { fingerprint: string; begins: number; expires: number } | undefined;
}

const keyOf = (issuer: string, serial: Buffer): string => `${issuer} ${serial.toString('hex')}`;

/** A time in seconds since 1970: UTCTime until 2049, GeneralizedTime from 2050 on (RFC 5280 5.1.2.4). */
function secondsOf({ tag, body }: Element): number {
  const text = body.toString('latin1');
  const century = tag === GENERALIZED_TIME ? '' : text < '5' ? '20' : '19';
  const parts = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(century + text);
  if (!parts) throw new Error('a CRL has a time that cannot be read');
  const [year = 0, month = 0, ...rest] = parts.slice(1).map(Number);
  return Date.UTC(year, month - 1, ...rest) / 1000;
}

/** Of several lists of one CA, that which is in date for longest counts. */
function longestOf(lists: readonly RevocationList[]): Map<string, RevocationList> {
  const longest = new Map<string, RevocationList>();
  for (const list of lists) {
    const other = longest.get(list.issuer);
    if (!other || list.expires > other.expires) longest.set(list.issuer, list);
  }
  return longest;
}

/** The fields of a certificate that a revocation list names: version?, serialNumber, signature, issuer, ... */
function namesOf(raw: Buffer): { issuer: string; serial: Buffer } {
  const parts = signedPart(raw);
  const [serial, , issuer] = parts[0]?.tag === VERSION ? parts.slice(1) : parts;
  if (!serial || !issuer) throw new Error('a certificate has no serial number, or no issuer');
  return { issuer: issuer.whole.toString('base64'), serial: serial.body };
}

/**
 * Reads the certificates that the CRLs of a PEM file revoke (RFC 5280 5.1). TLS checks the CRLs, and their signatures,
 * only for new connections; this list finds the open connections whose certificate was revoked. Throws when the file
 * contains no CRL.
 */
export function readRevoked(pem: Buffer): Revoked {
  const revoked = new Set<string>();
  const lists: RevocationList[] = [];
  const blocks = [...pem.toString('latin1').matchAll(BLOCK)];
  if (blocks.length === 0) throw new Error('the file contains no CRL');
  for (const [, text = ''] of blocks) {
    const parts = signedPart(Buffer.from(text, 'base64'));
    // The fields of a CRL: version?, signature, issuer, thisUpdate, nextUpdate?, revokedCertificates?, extensions?
    const [, issuer, ...rest] = parts[0]?.tag === INTEGER ? parts.slice(1) : parts;
    if (!issuer) throw new Error('a CRL names no issuer');
    const name = issuer.whole.toString('base64');
    const [begins, expires] = rest.filter(({ tag }) => tag === UTC_TIME || tag === GENERALIZED_TIME).map(secondsOf);
    lists.push({ issuer: name, begins: begins ?? 0, expires: expires ?? Number.POSITIVE_INFINITY });
    const list = rest.find(({ tag }) => tag === SEQUENCE);
    for (const entry of list ? elementsOf(list.body) : []) {
      const [serial] = elementsOf(entry.body);
      if (serial) revoked.add(keyOf(name, serial.body));
    }
  }
  const counting = longestOf(lists);
  const [first] = [...counting.values()].toSorted((a, b) => a.expires - b.expires);
  return {
    has({ raw }) {
      const { issuer, serial } = namesOf(raw);
      return revoked.has(keyOf(issuer, serial));
    },
    covers: ({ raw }, now) => now < (counting.get(namesOf(raw).issuer)?.expires ?? 0),
    firstToExpire:
      first && Number.isFinite(first.expires)
        ? { fingerprint: createHash('sha256').update(pem).digest('hex'), begins: first.begins, expires: first.expires }
        : undefined,
  };
}
