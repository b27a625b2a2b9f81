import { createHash, timingSafeEqual } from 'node:crypto';

const NO_HASH = Buffer.alloc(32);

/**
 * Hashes a secret of a device, application or session for storage. The service makes these secrets of 256 random bits,
 * which nobody can guess, so one round of SHA-256 is as safe as a slow hash. A slow hash would turn a storm of logins
 * into an outage.
 */
export const hashSecret = (secret: string | Buffer): Buffer => createHash('sha256').update(secret).digest();

/**
 * A short text that differs between secrets, made from the hash. Neither the hash nor the secret can be derived from
 * it.
 */
export const secretMarkOf = (hash: Buffer): string =>
  createHash('sha256').update('mark').update(hash).digest('base64url').slice(0, 16);

/**
 * Compares a secret with a hash in constant time. Without a hash (the user is unknown) it takes as long and returns
 * false.
 */
export function matchesSecret(secret: string | Buffer, hash: Buffer | undefined): boolean {
  return timingSafeEqual(hashSecret(secret), hash ?? NO_HASH) && hash !== undefined;
}
