import { createHash, X509Certificate } from 'node:crypto';
import type { Micros } from './units.ts';

/** The SHA-256 of a certificate in DER, base64url: the `x5t#S256` of RFC 8705 3.1. */
export const thumbprintOf = ({ raw }: X509Certificate): string => createHash('sha256').update(raw).digest('base64url');

/** The SHA-256 of a certificate: 64 hexadecimal digits in lower case. */
export const fingerprintOf = ({ fingerprint256 }: X509Certificate): string =>
  fingerprint256.replaceAll(':', '').toLowerCase();

export const beginOf = ({ validFrom }: X509Certificate): Micros => Date.parse(validFrom) * 1000;

export const endOf = ({ validTo }: X509Certificate): Micros => Date.parse(validTo) * 1000;

/** The common name in the subject; undefined when there is none, or more than one. */
export function commonNameOf({ subject }: X509Certificate): string | undefined {
  const [first, ...others] = (subject ?? '').split('\n').filter((part) => part.startsWith('CN='));
  return others.length === 0 ? first?.slice('CN='.length) : undefined;
}

/** The purpose of certificates of clients, and that of certificates for all purposes (RFC 5280 4.2.1.12). */
const PURPOSES = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];

/** Whether a CA has signed the certificate itself, for use by a client. */
export function isSignedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  const purposes = certificate.keyUsage as string[] | undefined;
  if (purposes && !purposes.some((one) => PURPOSES.includes(one))) return false;
  return issuer.ca && certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** Reads a certificate that a person has given, in PEM; a text says what is wrong with it. */
export function readGivenCertificate(pem: string, now: Micros): X509Certificate | string {
  if (pem.includes('PRIVATE KEY')) return 'Value should have no private key, which stays secret';
  try {
    const certificate = new X509Certificate(pem);
    return endOf(certificate) > now ? certificate : 'Value should be a certificate that has not expired';
  } catch {
    return 'Value should be a certificate in PEM';
  }
}
