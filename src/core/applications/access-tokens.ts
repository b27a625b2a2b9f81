import { DomainError } from '@lapel/schemas/contracts/errors';
import { jwtVerify, SignJWT } from 'jose';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { boundTo } from './bound-token.ts';
import type { LegacyTokens } from './legacy-tokens.ts';
import type { Scope } from './scopes.ts';
import { createSigningKeys } from './signing-keys.ts';

const TOKEN_LIFETIME_SECONDS = 3600;
/** Seconds by which the clock of another node may be ahead. */
const CLOCK_SKEW_SECONDS = 300;
// A verified token takes about 1 KiB of memory in the cache. When the cache is full, its oldest entry is dropped; the
// dropped token is verified again when it is used.
const CACHED_TOKENS = 10_000;

interface Options {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved'>;
  /**
   * Returns the service's public URL, the `iss` of its tokens. It is a function, because the URL can contain a port
   * that the system chooses, which is known only when the service listens.
   */
  issuer(): string;
  /** A second issuer whose tokens are accepted too. */
  legacy?: LegacyTokens;
  /** Called when the keys were changed at once, so that other nodes read them again and streams are checked. */
  replaced?(): void;
  /** The number of verified tokens that are remembered; 10,000 by default. */
  cached?: number;
}

interface VerifiedToken {
  applicationId: string;
  scopes: ReadonlySet<string>;
  /**
   * Identifies the application's secret with which the token was requested, because a replaced secret ends its tokens.
   * Undefined if the token has no such claim.
   */
  secretMark?: string;
  /** The certificate that the token is bound to, as `x5t#S256` of RFC 8705 3.1; undefined if it is bound to none. */
  thumbprint?: string;
}

/** The proof that an application has given: its secret, or a certificate, to which the token is then bound. */
export type Proof = { secretMark: string } | { thumbprint: string };

interface Cached extends VerifiedToken {
  /** The end of the token's validity, in microseconds since the epoch. */
  expiresAt: number;
  /** The key that signed the token, if it is one of this service. */
  keyId?: string;
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;

/**
 * Access tokens: ES256 JWTs that are valid for one hour. A single token cannot be revoked. But ending a secret of an
 * application, or deleting it, ends its tokens, because the APIs look up the application on every request. The end of a
 * signing key ends all tokens that it has signed.
 */
export function createAccessTokens({ database, clock, ids, log, trust, issuer, legacy, ...options }: Options) {
  const { cached = CACHED_TOKENS, replaced = () => undefined } = options;
  const keys = createSigningKeys({ database, clock, ids, log, trust });
  const verified = new Map<string, Cached>();

  function remember(token: string, entry: Cached): void {
    if (verified.size >= cached) {
      const [first] = verified.keys();
      if (first !== undefined) verified.delete(first);
    }
    verified.set(token, entry);
  }

  async function checkOwn(token: string): Promise<Cached> {
    const { payload, protectedHeader } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = await keys.publicKey(kid ?? '');
        if (!key) throw new Error('the token was signed with an unknown key');
        return key;
      },
      {
        // RFC 8725 3.1: the service chooses the algorithm, so that the token's own header cannot choose a weak one.
        algorithms: ['ES256'],
        typ: 'JWT',
        issuer: issuer(),
        requiredClaims: ['sub', 'scope', 'iat', 'exp', 'jti'],
        currentDate: new Date(clock.now() / 1000),
      },
    );
    const { sub = '', scope, exp = 0, secret_mark: secretMark } = payload;
    if (typeof scope !== 'string') throw new Error('the claim "scope" is not a string');
    // A stolen signing key (from a node or a backup) could sign tokens that never expire, so a token that lives longer
    // than those of the service is refused.
    if (exp * 1_000_000 - clock.now() > (TOKEN_LIFETIME_SECONDS + CLOCK_SKEW_SECONDS) * 1_000_000) {
      throw new Error('the token lives longer than any that is issued');
    }
    const mark = typeof secretMark === 'string' ? { secretMark } : {};
    const scopes = new Set(scope.split(' '));
    const { kid: keyId = '' } = protectedHeader;
    return { applicationId: sub, scopes, expiresAt: exp * 1_000_000, keyId, ...mark, ...boundTo(payload) };
  }

  const check = (token: string): Promise<Cached> =>
    legacy?.claims(token) === true ? legacy.check(token) : checkOwn(token);

  return {
    start: keys.start,
    /**
     * Makes a new signing key when the newest is 30 days old, and drops the keys that no valid token needs. A timer
     * also calls this when a rotation is due.
     */
    rotate: keys.rotate,
    /** The signing keys, oldest first, and which of them signs now. */
    signingKeys: keys.state,
    /**
     * Makes a new signing key: it signs after ten minutes, and tokens of the former one stay valid until they expire.
     * `atOnce` ends all keys and tokens of before, with their streams, on all nodes. Returns false when the latest key is
     * not yet used, and so nothing was changed.
     */
    async renewSigningKey(atOnce: boolean): Promise<boolean> {
      const isMade = await keys.renew(atOnce);
      if (isMade) replaced();
      return isMade;
    },
    /** Call this when another node has changed the keys. */
    keysChangedElsewhere: keys.readAgain,
    /** The published keys, for `/.well-known/jwks.json`. */
    jwks: keys.jwks,

    /**
     * Issues a token for these scopes only. `expiresIn` is in seconds, `scope` holds the scopes separated by spaces (RFC
     * 6749 5.1).
     */
    async issue(
      { applicationId, ...proof }: { applicationId: string } & Proof,
      scopes: readonly Scope[],
    ): Promise<{ accessToken: string; expiresIn: number; scope: string }> {
      const { keyId, privateKey } = keys.current();
      const scope = scopes.join(' ');
      const issuedAt = Math.floor(clock.now() / 1_000_000);
      const about =
        'secretMark' in proof ? { secret_mark: proof.secretMark } : { cnf: { 'x5t#S256': proof.thumbprint } };
      const accessToken = await new SignJWT({ scope, ...about })
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: keyId })
        .setIssuer(issuer())
        .setSubject(applicationId)
        .setJti(ids.uuid())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + TOKEN_LIFETIME_SECONDS)
        .sign(privateKey);
      return { accessToken, expiresIn: TOKEN_LIFETIME_SECONDS, scope };
    },

    /**
     * Verifies a token of either issuer. Throws TOKEN_INVALID with the reason as its cause (expired, forged, foreign or
     * malformed), and LEGACY_ISSUER_UNAVAILABLE when the keys of the legacy issuer were never fetched.
     */
    async verify(token: string): Promise<VerifiedToken> {
      const known = verified.get(token);
      if (known && clock.now() < known.expiresAt && (known.keyId === undefined || keys.has(known.keyId))) return known;
      verified.delete(token);
      try {
        const entry = await check(token);
        remember(token, entry);
        return entry;
      } catch (cause) {
        if (cause instanceof DomainError) throw cause;
        throw new DomainError('TOKEN_INVALID', { cause });
      }
    },

    [Symbol.asyncDispose]: keys[Symbol.asyncDispose],
  };
}
