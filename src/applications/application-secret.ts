import { createHash, timingSafeEqual } from 'node:crypto';

/** A 256-bit random secret needs no slow hash: guessing it is hopeless, and a slow hash would make a storm of log-ins an outage. */
export const hashSecret = (secret: string): Buffer => createHash('sha256').update(secret, 'utf8').digest();

const NOBODY = Buffer.alloc(32);

/** Constant time in the secret; without a hash (no such application) it does the same work and answers false. */
export function secretMatches(secret: string, hash: Buffer | undefined): boolean {
  const equal = timingSafeEqual(hashSecret(secret), hash ?? NOBODY);
  return equal && hash !== undefined;
}
