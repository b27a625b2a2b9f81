// The tags of DER elements that this file looks for (X.690 8.1.2).
const INTEGER = 0x02;
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

/** The certificates that revocation lists name. */
export interface Revoked {
  /** Whether a certificate, of which `raw` is the DER, is revoked. */
  has(certificate: { raw: Buffer }): boolean;
}

const keyOf = (issuer: Buffer, serial: Buffer): string => `${issuer.toString('base64')} ${serial.toString('hex')}`;

/**
 * Reads the certificates that the CRLs of a PEM file revoke (RFC 5280 5.1). TLS checks the CRLs, and their signatures,
 * only for new connections; this list finds the open connections whose certificate was revoked. Throws when the file
 * contains no CRL.
 */
export function readRevoked(pem: Buffer): Revoked {
  const revoked = new Set<string>();
  const blocks = [...pem.toString('latin1').matchAll(BLOCK)];
  if (blocks.length === 0) throw new Error('the file contains no CRL');
  for (const [, text = ''] of blocks) {
    const parts = signedPart(Buffer.from(text, 'base64'));
    // The fields of a CRL: version?, signature, issuer, thisUpdate, nextUpdate?, revokedCertificates?, extensions?
    const [, issuer, ...rest] = parts[0]?.tag === INTEGER ? parts.slice(1) : parts;
    if (!issuer) throw new Error('a CRL names no issuer');
    const list = rest.find(({ tag }) => tag === SEQUENCE);
    for (const entry of list ? elementsOf(list.body) : []) {
      const [serial] = elementsOf(entry.body);
      if (serial) revoked.add(keyOf(issuer.whole, serial.body));
    }
  }
  return {
    has({ raw }) {
      // The fields of a certificate: version?, serialNumber, signature, issuer, ...
      const parts = signedPart(raw);
      const [serial, , issuer] = parts[0]?.tag === VERSION ? parts.slice(1) : parts;
      return serial !== undefined && issuer !== undefined && revoked.has(keyOf(issuer.whole, serial.body));
    },
  };
}
