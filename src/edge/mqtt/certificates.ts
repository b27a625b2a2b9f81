import type { X509Certificate } from 'node:crypto';
import type net from 'node:net';
import tls from 'node:tls';
import { commonNameOf, fingerprintOf } from '../../runtime/given-certificate.ts';

/** The client certificate of a connection, whose key the client has. */
export interface Certificate {
  /** The common name of the certificate; undefined when there is none, or more than one. */
  name: string | undefined;
  /** The SHA-256 of the certificate: 64 hexadecimal digits in lower case. */
  fingerprint: string;
  /** The whole certificate as DER. */
  raw: Buffer;
  /** Whether a CA of the settings has signed it, and no revocation list names it. */
  isTrusted: boolean;
}

/**
 * The client certificate of a connection; undefined without one. TLS says `authorized` also of a resumed session without a
 * certificate, so the certificate itself is looked for.
 */
export function shownCertificate(socket: net.Socket): Certificate | undefined {
  if (!(socket instanceof tls.TLSSocket)) return undefined;
  const shown: X509Certificate | undefined = socket.getPeerX509Certificate();
  if (!shown) return undefined;
  return { name: commonNameOf(shown), fingerprint: fingerprintOf(shown), raw: shown.raw, isTrusted: socket.authorized };
}
