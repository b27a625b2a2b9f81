import { createHash, timingSafeEqual } from 'node:crypto';

const NO_HASH = Buffer.alloc(32);

/**
 * How secrets that the service has made are kept, those of devices, applications and sessions: they are 256 random bits, which
 * nobody guesses, so one round of SHA-256 keeps them as safe as a slow hash would; and a slow one would make a storm of
 * logins an outage.
 */
export const hashSecret = (secret: string | Buffer): Buffer => createHash('sha256').update(secret).digest();

/** Tells secrets apart by their hashes; of a mark nobody comes back to either. */
export const secretMarkOf = (hash: Buffer): string =>
  createHash('sha256').update('mark').update(hash).digest('base64url').slice(0, 16);

/** Compares in constant time; without a hash (nobody has that name) it does the same work and never matches. */
export function matchesSecret(secret: string | Buffer, hash: Buffer | undefined): boolean {
  return timingSafeEqual(hashSecret(secret), hash ?? NO_HASH) && hash !== undefined;
}
