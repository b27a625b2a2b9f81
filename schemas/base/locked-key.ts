/**
 * Whether a private key in PEM needs a passphrase: PKCS 8, or the older form of OpenSSL. Node tells of it with codes that
 * differ between its releases.
 */
export const needsPassphrase = (pem: string): boolean =>
  /^-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type: 4,ENCRYPTED/m.test(pem);
