import { createPrivateKey, type KeyObject, type X509Certificate } from 'node:crypto';
import { algorithmOf } from '@lapel/schemas/base/certificates';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { beginOf, readGivenCertificate } from '../../runtime/given-certificate.ts';
import type { Micros } from '../../runtime/units.ts';

const fault = (field: 'certificate' | 'privateKey', msg: string): DomainError =>
  DomainError.invalid({ loc: ['body', field], msg, type: 'string_pattern_mismatch' });

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw fault('privateKey', 'Value should be a private key in PEM (PKCS #8), without a password');
  }
}

/**
 * Reads a CA that a person brings: its certificate and its key, in PEM. Throws REQUEST_INVALID, which names the field, for
 * a certificate that is no CA or not valid now, and for a key that is another one or too weak.
 */
export function readGivenAuthority(
  given: { certificate: string; privateKey: string },
  now: Micros,
): { certificate: X509Certificate; key: KeyObject } {
  const certificate = readGivenCertificate(given.certificate, now);
  if (typeof certificate === 'string') throw fault('certificate', certificate);
  if (beginOf(certificate) > now) throw fault('certificate', 'Value should be a certificate that is valid now');
  if (!certificate.ca)
    throw fault('certificate', 'Value should be a CA: basicConstraints with CA:TRUE, and keyUsage with keyCertSign');
  if (!certificate.subject) throw fault('certificate', 'Value should be a certificate with a subject');
  const key = readKey(given.privateKey);
  if (!certificate.checkPrivateKey(key)) throw fault('privateKey', 'Value should be the key of the certificate');
  if (!algorithmOf(key))
    throw fault('privateKey', 'Value should be a key of EC (P-256, P-384, P-521), or of RSA with 2048 to 4096 bits');
  return { certificate, key };
}
