import type { Micros } from '../../runtime/units.ts';

/** A CA with which the service signs the client certificates of a developer's devices. */
export interface Authority {
  authorityId: string;
  developerId: string;
  name: string;
  /** PEM */
  certificate: string;
  expiresAt: Micros;
  createdAt: Micros;
  /** From then on it signs no more; the certificates that it has signed stay valid. */
  retiredAt: Micros | null;
  /** From then on the certificates that it has signed are invalid. */
  revokedAt: Micros | null;
}

export type AuthorityState = 'active' | 'retired' | 'revoked' | 'expired';

export function stateOf({ revokedAt, retiredAt, expiresAt }: Authority, now: Micros): AuthorityState {
  if (revokedAt !== null) return 'revoked';
  if (now >= expiresAt) return 'expired';
  return retiredAt === null ? 'active' : 'retired';
}
