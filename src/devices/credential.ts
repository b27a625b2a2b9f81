import { createHash, timingSafeEqual } from 'node:crypto';

const NO_HASH = Buffer.alloc(32);

/** Credentials are random and long, so one round of SHA-256 keeps them as safe as a slow hash would. */
export const hashCredential = (credential: string | Buffer): Buffer => createHash('sha256').update(credential).digest();

/** Compares in constant time; an unknown device (no hash) costs the same and never matches. */
export function matchesCredential(credential: string | Buffer, hash: Buffer | undefined): boolean {
  return timingSafeEqual(hashCredential(credential), hash ?? NO_HASH) && hash !== undefined;
}
