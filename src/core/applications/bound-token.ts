import type { JWTPayload } from 'jose';

/**
 * The certificate that a token is bound to, as the claim `cnf` says (RFC 8705 3.1). Throws when the token is bound to
 * something that the service cannot check, because it would accept the token from anybody.
 */
export function boundTo({ cnf }: JWTPayload): { thumbprint?: string } {
  if (cnf === undefined) return {};
  const thumbprint = typeof cnf === 'object' && cnf !== null ? (cnf as Record<string, unknown>)['x5t#S256'] : undefined;
  if (typeof thumbprint !== 'string') throw new Error('the token is bound to something else than a certificate');
  return { thumbprint };
}
