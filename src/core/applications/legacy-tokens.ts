import { decodeJwt, type JWTPayload, jwtVerify } from 'jose';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { TOLERANCE_MICROS, TOLERANCE_SECONDS } from '../../runtime/tolerance.ts';
import { boundTo } from './bound-token.ts';
import { createRemoteKeys } from './remote-keys.ts';
import type { Scope } from './scopes.ts';

/** The settings of LAPEL_LEGACY_*. */
interface LegacyIssuer {
  /** The exact `iss` of the legacy issuer's tokens. */
  issuer: string;
  jwksUrl: string;
  scopeBase: string;
  /** The value that the claim `aud` must contain; null: the service's public URL, if the token has an `aud`. */
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

// RFC 8725 3.1: only signatures by key pairs. With a symmetric algorithm, the published key would serve as the secret.
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

/**
 * The last part of each legacy scope's name (the setting LAPEL_LEGACY_SCOPE_BASE is the first part), with the scope
 * that it grants (specification, "Legacy authentication").
 */
const LEGACY_SCOPES: Record<string, Scope> = {
  'applications.r': 'svc:application:read',
  'applications.w': 'svc:application:write',
  'devices.r': 'svc:device:read',
  'devices.w': 'svc:device:write',
};

// Microseconds for which a verified token is accepted without being verified again. So a token whose signing key the
// issuer withdraws is accepted for at most this time.
const CHECKED_FOR_MICROS = 600 * 1_000_000;

/**
 * Access tokens of the legacy identity provider: JWTs that are verified with the keys that it publishes. The claim
 * `client_id` is the application; the claim `scope` is translated, and unknown scopes are left out.
 */
export function createLegacyTokens({ issuer, jwksUrl, scopeBase, audience, clock, log, metrics, publicUrl }: Options) {
  const keys = createRemoteKeys({ url: jwksUrl, clock, log, metrics });
  const scopes = new Map(Object.entries(LEGACY_SCOPES).map(([name, scope]) => [`${scopeBase}/${name}`, scope]));

  /** Without LAPEL_LEGACY_AUDIENCE, a token may lack `aud`; if it has one, it must name this service. */
  function checkAudience({ aud }: JWTPayload): void {
    if (aud === undefined && audience === null) return;
    if (![aud].flat().includes(audience ?? publicUrl())) throw new Error('the token is for another audience');
  }

  return {
    /** Whether the claim `iss` of a token names this issuer. The signature is not verified here. */
    claims(token: string): boolean {
      try {
        return decodeJwt(token).iss === issuer;
      } catch {
        return false;
      }
    },

    /** Verifies a token. `expiresAt` is in microseconds. Throws the token's fault, or LEGACY_ISSUER_UNAVAILABLE. */
    async check(
      token: string,
    ): Promise<{ applicationId: string; scopes: Set<string>; expiresAt: number; thumbprint?: string }> {
      const now = clock.wall(); // the issuer's clock follows the time of the day, as this one does
      const { payload } = await jwtVerify(token, keys.find, {
        algorithms: ALGORITHMS,
        issuer,
        requiredClaims: ['exp', 'client_id'],
        currentDate: new Date(now / 1000),
        clockTolerance: TOLERANCE_SECONDS,
      });
      checkAudience(payload);
      const { client_id: applicationId, scope = '', exp = 0 } = payload;
      if (typeof applicationId !== 'string') throw new Error('the claim "client_id" is not a string');
      if (typeof scope !== 'string') throw new Error('the claim "scope" is not a string');
      const known = scope.split(' ').flatMap((name) => scopes.get(name) ?? []);
      const leftMicros = Math.min(exp * 1_000_000 + TOLERANCE_MICROS - now, CHECKED_FOR_MICROS);
      const expiresAt = clock.now() + leftMicros;
      return { applicationId, scopes: new Set(known), expiresAt, ...boundTo(payload) };
    },

    [Symbol.asyncDispose]: keys[Symbol.asyncDispose],
  };
}
