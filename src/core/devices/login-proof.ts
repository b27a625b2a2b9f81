import { matchesSecret } from '../../runtime/secret-hash.ts';
import type { Micros } from '../../runtime/units.ts';

/** A certificate that the service has signed for a device, as it is stored with the device. */
export interface IssuedCertificate {
  /** The SHA-256 of the certificate: 64 hexadecimal digits in lower case. */
  fingerprint: string;
  /** The device CA that has signed it. */
  authorityId: string;
  until: Micros;
}

/**
 * The proof of identity of a device: its credential; or the SHA-256 of its certificate, whose key it has. `isTrusted`: a CA
 * of the settings has signed the certificate for this deviceId.
 */
export type Proof = { credential: string | Buffer } | { certificateFingerprint: string; isTrusted: boolean };

/** The stored values with which a login is compared. */
export interface KnownLogin {
  hash: Buffer;
  /** The hash of the credential that was offered; null: there is none. */
  nextHash: Buffer | null;
  /**
   * The certificates of a CA of the settings that are accepted. Null: any that names the device. Otherwise the one with
   * this fingerprint; none when it is empty.
   */
  certificate: string | null;
  /** The certificate that the service has signed; null: there is none, or its device CA is revoked. */
  issued: Pick<IssuedCertificate, 'fingerprint' | 'until'> | null;
  /** The one that takes its place at the first login with it. */
  nextIssued: Pick<IssuedCertificate, 'fingerprint' | 'until'> | null;
}

/** The kind of the proof: the present one of the device, or one that was offered to it; undefined when it is wrong. */
export function matchOf(login: KnownLogin, proof: Proof, now: Micros): 'present' | 'offered' | undefined {
  if ('credential' in proof) {
    if (matchesSecret(proof.credential, login.hash)) return 'present';
    return login.nextHash !== null && matchesSecret(proof.credential, login.nextHash) ? 'offered' : undefined;
  }
  const { certificateFingerprint: shown, isTrusted } = proof;
  const isShown = (known: KnownLogin['issued']): boolean => known?.fingerprint === shown && now < known.until;
  if (isShown(login.issued)) return 'present';
  if (isShown(login.nextIssued)) return 'offered';
  return isTrusted && (login.certificate ?? shown) === shown ? 'present' : undefined;
}
