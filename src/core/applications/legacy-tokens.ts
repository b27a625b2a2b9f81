import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createRemoteKeys } from './remote-keys.ts';
import type { Scope } from './scopes.ts';

/** The settings of LAPEL_LEGACY_*. */
interface LegacyIssuer {
  /** `iss` of its tokens, to the letter. */
  issuer: string;
  jwksUrl: string;
  scopeBase: string;
  /** What `aud` must contain; null: see `checkAudience`. */
  audience: string | null;
}

interface Options extends LegacyIssuer {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** The service's public URL. */
  publicUrl(): string;
}

export type LegacyTokens = ReturnType<typeof createLegacyTokens>;

// RFC 8725 3.1: signatures with a key pair only. A symmetric algorithm would take a published key for a secret.
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** The legacy names below the scope base (specification, "Legacy authentication"). */
const LEGACY_SCOPES: Record<string, Scope> = {
  'applications.r': 'svc:application:read',
  'applications.w': 'svc:application:write',
  'devices.r': 'svc:device:read',
  'devices.w': 'svc:device:write',
};

// Microseconds that a checked token is taken as good without its key: so long one lives on that its issuer took back.
const CHECKED_FOR = 600 * 1_000_000;

/**
 * Access tokens of the legacy identity provider: JWTs that are checked against the keys that it publishes. The application
 * is the claim `client_id`, the claim `scope` is translated; scopes that mean nothing here are left out.
 */
export function createLegacyTokens({ issuer, jwksUrl, scopeBase, audience, clock, log, metrics, publicUrl }: Options) {
  const keys = createRemoteKeys({ url: jwksUrl, clock, log, metrics });
  const scopes = new Map(Object.entries(LEGACY_SCOPES).map(([name, scope]) => [`${scopeBase}/${name}`, scope]));

  /** Without LAPEL_LEGACY_AUDIENCE a token may be for nobody in particular, but not for somebody else. */
  function checkAudience({ aud }: JWTPayload): void {
    if (aud === undefined && audience === null) return;
    if (![aud].flat().includes(audience ?? publicUrl())) throw new Error('the token is for another audience');
  }

  return {
    /** Whether a token says that it is of this issuer; nothing is checked yet. */
    claims(token: string): boolean {
      try {
        return decodeJwt(token).iss === issuer;
      } catch {
        return false;
      }
    },

    /** `expiresAt` is in microseconds. Throws what is wrong with the token, or LEGACY_ISSUER_UNAVAILABLE. */
    async check(token: string): Promise<{ applicationId: string; scopes: Set<string>; expiresAt: number }> {
      const now = clock.now();
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms: ALGORITHMS,
        issuer,
        requiredClaims: ['exp', 'client_id'],
        currentDate: new Date(now / 1000),
      });
      checkAudience(payload);
      const { client_id: applicationId, scope = '', exp = 0 } = payload;
      if (typeof applicationId !== 'string') throw new Error('the claim "client_id" is no string');
      if (typeof scope !== 'string') throw new Error('the claim "scope" is no string');
      const known = scope.split(' ').flatMap((name) => scopes.get(name) ?? []);
      const expiresAt = Math.min(exp * 1_000_000, now + CHECKED_FOR);
      return { applicationId, scopes: new Set(known), expiresAt };
    },

    [Symbol.asyncDispose]: keys[Symbol.asyncDispose],
  };
}
