import { createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey } from 'node:crypto';
import type { Ids } from '../../runtime/ids.ts';
import { PRIVATE_PREFIX, SHARED_PREFIX } from '../webhooks/signature.ts';
import type { SignatureScheme } from './endpoint.ts';

/**
 * Makes a secret: for `v1` one that the receiver shares (`whsec_` and base64), for `v1a` the private half of a key pair
 * (`whsk_` and the base64 of its PKCS 8 form), whose public half the receiver reads.
 */
export function makeSecret(scheme: SignatureScheme, ids: Pick<Ids, 'bytes'>): string {
  if (scheme === 'v1') return `${SHARED_PREFIX}${ids.bytes(32).toString('base64')}`;
  const { privateKey } = generateKeyPairSync('ed25519');
  return `${PRIVATE_PREFIX}${privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')}`;
}

export const schemeOf = (secret: string): SignatureScheme => (secret.startsWith(PRIVATE_PREFIX) ? 'v1a' : 'v1');

/** The public half of a secret of `v1a`: in the form of Standard Webhooks (`whpk_` and base64), and as JWK (RFC 8037). */
export function publicKeyOf(secret: string): { publicKey: string; jwk: JsonWebKey } {
  const der = Buffer.from(secret.slice(PRIVATE_PREFIX.length), 'base64');
  const key = createPublicKey(createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }));
  const { x = '' } = key.export({ format: 'jwk' });
  const publicKey = `whpk_${Buffer.from(x, 'base64url').toString('base64')}`;
  return { publicKey, jwk: { kty: 'OKP', crv: 'Ed25519', x, alg: 'EdDSA', use: 'sig' } };
}
