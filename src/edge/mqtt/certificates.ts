import type net from 'node:net';
import tls from 'node:tls';

/** The data of a client certificate that one of our CAs has signed and that is not revoked. */
export interface Certificate {
  /** The common name of the certificate. */
  name: string;
  /** The SHA-256 of the certificate: 64 hexadecimal digits in lower case. */
  fingerprint: string;
  /** The whole certificate as DER. */
  raw: Buffer;
}

/** The valid client certificate of a connection; undefined without one. */
export function shownCertificate(socket: net.Socket): Certificate | undefined {
  if (!(socket instanceof tls.TLSSocket) || !socket.authorized) return undefined;
  const { subject, fingerprint256, raw } = socket.getPeerCertificate();
  const name = subject?.CN as string | string[] | undefined;
  if (typeof name !== 'string') return undefined;
  return { name, fingerprint: fingerprint256.replaceAll(':', '').toLowerCase(), raw };
}
