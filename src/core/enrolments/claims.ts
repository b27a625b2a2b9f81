import { X509Certificate } from 'node:crypto';
import type { ShownCertificate } from '../../platform/entrance/client-certificates.ts';
import { endOf, thumbprintOf } from '../../runtime/given-certificate.ts';
import { isInDate } from '../../runtime/tolerance.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Batch } from './enrolment.ts';

/**
 * Whether a device may enrol in a batch by the certificate that it shows: the one that all devices of the batch have, or
 * one that the CA of the batch has signed for this deviceId. Both must be valid now.
 */
export function isClaim(
  { claimCertificate }: Pick<Batch, 'claimCertificate'>,
  shown: ShownCertificate | undefined,
  deviceId: string,
  now: Micros,
): boolean {
  if (claimCertificate === null || !shown) return false;
  if (!isInDate(now, { from: shown.validFrom, until: shown.validTo })) return false;
  const known = new X509Certificate(claimCertificate);
  if (shown.thumbprint === thumbprintOf(known)) return true;
  return now < endOf(known) && shown.commonName === deviceId && shown.isSignedBy(known);
}
