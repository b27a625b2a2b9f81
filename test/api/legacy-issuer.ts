import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import type { Test } from 'tap';
import type { FakeClock } from '../fake-clock.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';

export const BASE = 'https://legacy.example/lapel';
export const ISSUER = 'https://legacy.example';
export const LEGACY_SCOPES: Record<string, string> = {
  'svc:application:read': `${BASE}/applications.r`,
  'svc:application:write': `${BASE}/applications.w`,
  'svc:device:read': `${BASE}/devices.r`,
  'svc:device:write': `${BASE}/devices.w`,
};
export const ALL_LEGACY = Object.values(LEGACY_SCOPES).join(' ');

interface LegacyKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

export async function makeKey(kid: string, alg = 'RS256'): Promise<LegacyKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

// Making keys takes long, so the tests of a file share this one.
const firstKey = makeKey('first');

/** An identity provider on loopback: it publishes keys, and signs valid and invalid tokens. */
export async function createLegacyIssuer(t: Test, clock: FakeClock) {
  const server = await createTestReceiver(t);
  const first = await firstKey;
  const publish = (...keys: JWK[]): void => server.answer({ body: JSON.stringify({ keys }) });
  publish(first.publicJwk);

  return {
    server,
    first,
    publish,
    /** The number of times that the keys were fetched. */
    fetches: () => server.requests.length,
    env: {
      LAPEL_LEGACY_ISSUER: ISSUER,
      LAPEL_LEGACY_JWKS_URL: `http://127.0.0.1:${server.port}/jwks.json`,
      LAPEL_LEGACY_SCOPE_BASE: `${BASE}/`,
    },
    /** A token of the application for an hour, with changes; a claim that is undefined is left out. */
    sign(
      applicationId: string,
      claims: Record<string, unknown> = {},
      { key = first, header = {} }: { key?: LegacyKey; header?: Record<string, unknown> } = {},
    ): Promise<string> {
      const now = Math.floor(clock.now() / 1_000_000);
      const all = { iss: ISSUER, client_id: applicationId, scope: ALL_LEGACY, iat: now, exp: now + 3600, ...claims };
      return new SignJWT(all).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
    },
  };
}
