import { jwtVerify, SignJWT } from 'jose';
import { DomainError } from '../../errors.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { LegacyTokens } from './legacy-tokens.ts';
import type { Scope } from './scopes.ts';
import { createSigningKeys } from './signing-keys.ts';

/** Seconds. */
const TOKEN_LIFETIME = 3600;
/** Seconds by which the clock of another node may be ahead. */
const CLOCKS_APART = 300;
// A verified token is about 1 KiB here. Above the bound the one that was verified first goes, and is verified anew when it comes again.
const CACHED_TOKENS = 10_000;

interface Options {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** The service's public URL: the `iss` of its tokens. Asked per token, because a free port is known only after listening. */
  issuer(): string;
  /** A second issuer whose tokens are accepted too. */
  legacy?: LegacyTokens;
}

interface VerifiedToken {
  applicationId: string;
  scopes: ReadonlySet<string>;
  /** Which of the application's secrets got it; undefined when it does not say so. */
  secretMark?: string;
}

interface Cached extends VerifiedToken {
  /** Microseconds. */
  expiresAt: number;
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;

/**
 * Access tokens: ES256 JWTs that live one hour and cannot be taken back one by one. Replacing an application's secret
 * ends all that it got, and deleting the application does: edges look it up on every request.
 */
export function createAccessTokens({ database, clock, ids, log, issuer, legacy }: Options) {
  const keys = createSigningKeys({ database, clock, ids, log });
  const verified = new Map<string, Cached>();

  function remember(token: string, entry: Cached): void {
    if (verified.size >= CACHED_TOKENS) {
      const [first] = verified.keys();
      if (first !== undefined) verified.delete(first);
    }
    verified.set(token, entry);
  }

  async function checkOwn(token: string): Promise<Cached> {
    const { payload } = await jwtVerify(
      token,
      async ({ kid }) => {
        const key = await keys.publicKey(kid ?? '');
        if (!key) throw new Error('the token was signed with an unknown key');
        return key;
      },
      {
        algorithms: ['ES256'], // RFC 8725 3.1: never what the token's header asks for
        typ: 'JWT',
        issuer: issuer(),
        requiredClaims: ['sub', 'scope', 'iat', 'exp', 'jti'],
        currentDate: new Date(clock.now() / 1000),
      },
    );
    const { sub = '', scope, exp = 0, secret_mark: secretMark } = payload;
    if (typeof scope !== 'string') throw new Error('the claim "scope" is no string');
    // Whoever has the keys of a node, or of a backup, makes no token that outlives them.
    if (exp * 1_000_000 - clock.now() > (TOKEN_LIFETIME + CLOCKS_APART) * 1_000_000) {
      throw new Error('the token lives longer than any that is issued');
    }
    const mark = typeof secretMark === 'string' ? { secretMark } : {};
    return { applicationId: sub, scopes: new Set(scope.split(' ')), expiresAt: exp * 1_000_000, ...mark };
  }

  const check = (token: string): Promise<Cached> =>
    legacy?.claims(token) === true ? legacy.check(token) : checkOwn(token);

  return {
    start: keys.start,
    /** Makes a new key when the newest is 30 days old and drops the keys that no living token needs; a timer does it by itself. */
    rotate: keys.rotate,
    /** The published keys, for `/.well-known/jwks.json`. */
    jwks: keys.jwks,

    /** A token for these scopes only. `expiresIn` is in seconds, `scope` the scopes separated by spaces (RFC 6749 5.1). */
    async issue(
      { applicationId, secretMark }: { applicationId: string; secretMark: string },
      scopes: readonly Scope[],
    ): Promise<{ accessToken: string; expiresIn: number; scope: string }> {
      const { keyId, privateKey } = keys.current();
      const scope = scopes.join(' ');
      const issuedAt = Math.floor(clock.now() / 1_000_000);
      const accessToken = await new SignJWT({ scope, secret_mark: secretMark })
        .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid: keyId })
        .setIssuer(issuer())
        .setSubject(applicationId)
        .setJti(ids.uuid())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + TOKEN_LIFETIME)
        .sign(privateKey);
      return { accessToken, expiresIn: TOKEN_LIFETIME, scope };
    },

    /**
     * A token of either issuer. Throws TOKEN_INVALID with what is wrong as its cause: expired, forged, foreign or
     * malformed; LEGACY_ISSUER_UNAVAILABLE when nobody can tell, because the keys of the legacy issuer were never fetched.
     */
    async verify(token: string): Promise<VerifiedToken> {
      const known = verified.get(token);
      if (known && clock.now() < known.expiresAt) return known;
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
