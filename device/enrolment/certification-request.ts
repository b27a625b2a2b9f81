import { generateKeyPairSync, sign } from 'node:crypto';

/** DER (X.690): a tag, the length, and the content. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from(head), content]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const VERSION = der(0x02, Buffer.of(0));
const COMMON_NAME = der(0x06, Buffer.from('550403', 'hex'));
const ECDSA_WITH_SHA256 = der(0x06, Buffer.from('2a8648ce3d040302', 'hex'));
const NO_ATTRIBUTES = der(0xa0);

/**
 * Makes a key on the curve P-256, and a certification request (PKCS #10, RFC 2986) for it, both as PEM. The service uses only
 * the public key of the request.
 */
export function makeCertificationRequest(deviceId: string): { key: string; csr: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(deviceId)))));
  const info = sequence(VERSION, name, publicKey.export({ format: 'der', type: 'spki' }), NO_ATTRIBUTES);
  const signature = der(0x03, Buffer.of(0), sign('sha256', info, privateKey));
  const base64 = sequence(info, sequence(ECDSA_WITH_SHA256), signature).toString('base64');
  const lines = base64.match(/.{1,64}/g) ?? [];
  const csr = ['-----BEGIN CERTIFICATE REQUEST-----', ...lines, '-----END CERTIFICATE REQUEST-----', ''].join('\n');
  return { key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), csr };
}
