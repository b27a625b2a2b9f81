import { DomainError, type ErrorCode } from '@lapel/schemas/contracts/errors';
import { ANY_SCOPE } from './route.ts';

// RFC 6750 2.1; the scheme is case-insensitive (RFC 9110 11.1).
const SCHEME = /^bearer(?= |$)/i;
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * The token after the scheme `Bearer` in an `Authorization` header, which may be empty; undefined for another scheme.
 */
export const behindBearer = (authorization: string | undefined): string | undefined =>
  authorization !== undefined && SCHEME.test(authorization) ? authorization.slice('bearer'.length).trim() : undefined;

/** The token of an `Authorization` header. Throws TOKEN_MISSING, or TOKEN_INVALID for one that cannot be a token. */
export function bearerToken(authorization: string | undefined): string {
  const token = behindBearer(authorization);
  if (token === undefined) throw new DomainError('TOKEN_MISSING');
  if (!TOKEN.test(token)) throw new DomainError('TOKEN_INVALID');
  return token;
}

/**
 * The `WWW-Authenticate` header of an error (RFC 6750 3); undefined for errors that have none. A request without a
 * token gets the scheme but no error code (RFC 6750 3.1).
 */
export function challengeOf(code: ErrorCode, scope: string | null): string | undefined {
  const wanted = scope === null || scope === ANY_SCOPE ? '' : `, scope="${scope}"`;
  if (code === 'TOKEN_MISSING') return `Bearer realm="lapel"${wanted}`;
  if (code === 'TOKEN_INVALID') return `Bearer realm="lapel", error="invalid_token"${wanted}`;
  if (code === 'SCOPE_INSUFFICIENT') return `Bearer realm="lapel", error="insufficient_scope"${wanted}`;
  if (code === 'CLIENT_INVALID') return 'Basic realm="lapel", charset="UTF-8"';
  if (code === 'ADMIN_TOKEN_INVALID' || code === 'SESSION_ENDED') return 'Bearer realm="lapel administration"';
  return undefined;
}
