import { DomainError } from '@lapel/schemas/contracts/errors';
import type { ClientAuth, Configuration } from 'openid-client';
import type { Clock } from '../../../runtime/clock.ts';
import type { Log } from '../../../runtime/log.ts';
import type { ProviderSettings } from '../../../runtime/provider-settings.ts';
import { createRemembered } from '../../../runtime/remembered.ts';
import { ROLES, type Role } from '../../../runtime/roles.ts';
import { TOLERANCE_SECONDS } from '../../../runtime/tolerance.ts';
import type { Micros } from '../../../runtime/units.ts';
import { type Attempt, valuesOf } from './attempt.ts';
import { createBoundedFetch, ProviderAway } from './bounded-fetch.ts';

/** Microseconds for which the description of a provider is used, and after which one that failed is asked again. */
const DESCRIBED_FOR_MICROS = 600_000_000;
const FAILED_FOR_MICROS = 5_000_000;
const LONGEST_SUBJECT = 255;
const LONGEST_NAME = 255;
/** The most values of a claim that are looked at. */
const MOST_VALUES = 1000;
const CONTROLS = /\p{Cc}/gu;

/** The identity of a person, as the provider says. */
export interface Identified {
  subject: string;
  name: string;
  /** Null: none of the values of the claim has a role. */
  role: Role | null;
}

type Claims = Readonly<Record<string, unknown>>;

/** Finds a claim by its name, or by the names of the objects around it: `realm_access.roles`. */
function claimOf(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let found: unknown = claims;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Claims)[name];
  }
  return found;
}

/** The mightiest of the roles that values of a claim have; null when no value has one. */
function roleOf(claim: unknown, roles: ReadonlyMap<string, Role>): Role | null {
  const values = (Array.isArray(claim) ? claim : [claim]).slice(0, MOST_VALUES);
  const given = new Set(values.map((value) => (typeof value === 'string' ? roles.get(value) : undefined)));
  return ROLES.find((role) => given.has(role)) ?? null;
}

function nameOf(claims: Claims, subject: string): string {
  const names = [claims['name'], claims['preferred_username'], claims['email'], subject];
  const texts = names.map((one) => (typeof one === 'string' ? one.replace(CONTROLS, ' ').trim() : ''));
  return (texts.find((one) => one !== '') ?? 'nobody').slice(0, LONGEST_NAME).toWellFormed();
}

interface Parts {
  clock: Clock;
  log: Log;
  stopped: AbortSignal;
}

export type Provider = ReturnType<typeof createProvider>;

/**
 * A provider of sign-ins (OpenID Connect): authorization code with PKCE. Its description is read at the first sign-in, so
 * a provider that is down stops neither the start of the service nor other ways to sign in. openid-client is loaded then
 * as well, because most services never need it.
 */
export function createProvider(settings: ProviderSettings, { clock, log, stopped }: Parts) {
  const { providerId, name, issuer, clientId, clientSecret, scope, roleClaim, roles } = settings;
  const remembered = createRemembered({ clock, keptMicros: DESCRIBED_FOR_MICROS });
  const fetchBounded = createBoundedFetch({ clock, stopped });
  let failedAt: Micros = Number.NEGATIVE_INFINITY;

  async function describe() {
    const client = await import('openid-client');
    if (clock.now() - failedAt < FAILED_FOR_MICROS) throw new ProviderAway('it failed a moment ago');
    const metadata = { redirect_uris: [], [client.clockTolerance]: TOLERANCE_SECONDS };
    const execute = [client.enableNonRepudiationChecks];
    if (issuer.startsWith('http:')) execute.push(client.allowInsecureRequests);
    const authenticate =
      (method: string | undefined): ClientAuth =>
      (...request) => {
        const secret = clientSecret();
        if (secret === null) return client.None()(...request);
        const way = method === 'post' ? client.ClientSecretPost(secret) : client.ClientSecretBasic(secret);
        way(...request);
      };
    const options = { [client.customFetch]: fetchBounded, execute };
    try {
      const found = await client.discovery(new URL(issuer), clientId, metadata, authenticate(undefined), options);
      const methods = found.serverMetadata().token_endpoint_auth_methods_supported;
      // Without a list, a provider accepts the secret in the header (OpenID Connect Discovery 3).
      const isPost = methods?.includes('client_secret_post') && !methods.includes('client_secret_basic');
      if (!isPost) return { client, found };
      const other = new client.Configuration(found.serverMetadata(), clientId, metadata, authenticate('post'));
      other[client.customFetch] = fetchBounded;
      for (const apply of execute) apply(other);
      return { client, found: other };
    } catch (error) {
      failedAt = clock.now();
      throw error;
    }
  }

  const described = (): ReturnType<typeof describe> => remembered('description', describe);

  /** Makes the error for an answer, or its lack; the reason is in the log only. */
  function failed(err: unknown, isAway: boolean): DomainError {
    const code = isAway || isAwayOf(err) ? 'SIGN_IN_UNAVAILABLE' : 'SIGN_IN_REFUSED';
    log.warn({ err, providerId }, 'a sign-in failed at its provider');
    return new DomainError(code, { cause: err });
  }

  async function claimsOf(found: Configuration, { url, attempt }: { url: URL; attempt: Attempt }): Promise<Claims> {
    const { client } = await described();
    const { state, nonce, verifier } = valuesOf(attempt);
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    const tokens = await client.authorizationCodeGrant(found, url, checks);
    const claims = tokens.claims() as Claims;
    if (claimOf(claims, roleClaim) !== undefined || found.serverMetadata().userinfo_endpoint === undefined)
      return claims;
    const more = await client.fetchUserInfo(found, tokens.access_token, String(claims['sub']));
    return { ...more, ...claims };
  }

  return {
    providerId,
    name,
    issuer,

    /** The URL at which the browser signs in. Throws SIGN_IN_UNAVAILABLE. */
    async begin(attempt: Attempt): Promise<string> {
      const { state, nonce, verifier } = valuesOf(attempt);
      try {
        const { client, found } = await described();
        const url = client.buildAuthorizationUrl(found, {
          scope,
          state,
          nonce,
          redirect_uri: redirectOf(attempt),
          code_challenge: await client.calculatePKCECodeChallenge(verifier),
          code_challenge_method: 'S256',
        });
        return url.href;
      } catch (error) {
        throw failed(error, true);
      }
    },

    /**
     * Exchanges the code of the provider's answer, whose query is `search`, and checks issuer, audience, nonce, times and
     * signature of the ID token. Throws SIGN_IN_REFUSED and SIGN_IN_UNAVAILABLE.
     */
    async finish(attempt: Attempt, search: string): Promise<Identified> {
      try {
        const { found } = await described();
        const claims = await claimsOf(found, { url: new URL(redirectOf(attempt) + search), attempt });
        const subject = claims['sub'];
        if (typeof subject !== 'string' || subject.length > LONGEST_SUBJECT || subject !== subject.toWellFormed())
          throw new Error('the subject is too long');
        return { subject, name: nameOf(claims, subject), role: roleOf(claimOf(claims, roleClaim), roles) };
      } catch (error) {
        throw failed(error, false);
      }
    },

    /** The URL at which the browser signs out of the provider as well; null when it has none, or is away. */
    async leave(base: string): Promise<string | null> {
      try {
        const { client, found } = await described();
        if (found.serverMetadata().end_session_endpoint === undefined) return null;
        return client.buildEndSessionUrl(found, { post_logout_redirect_uri: `${base}/console/` }).href;
      } catch (err) {
        log.warn({ err, providerId }, 'a sign-out could not be passed on to the provider');
        return null;
      }
    },
  };
}

/** The URI to which a provider leads back; it must be registered there. */
const redirectOf = ({ base, providerId }: Attempt): string => `${base}/console/sign-in/${providerId}`;

/** Whether an error of openid-client means that the provider is away. */
function isAwayOf(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof ProviderAway) return true;
  return false;
}
