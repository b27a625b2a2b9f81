import { randomBytes, randomUUID } from 'node:crypto';

/** The only source of randomness that ends up in stored data. Tests inject a counting one. */
export interface Ids {
  /** A new identifier: unique, URL-safe, and (where it matters for index locality) ordered by the time given. */
  next(prefix: string, nowMicros: number): string;
  /** A secret of `bytes` random bytes (32 unless told), base64url. */
  secret(bytes?: number): string;
  /** Raw random bytes. */
  bytes(count: number): Buffer;
  /** A random UUID for request ids and token ids. */
  uuid(): string;
}

// Randomness for `next` is fetched in blocks: one call of the system per identifier would be most of its cost.
const BYTES_PER_ID = 10;
let block = Buffer.alloc(0);
function freshBytes(): string {
  if (block.length < BYTES_PER_ID) block = randomBytes(BYTES_PER_ID * 400);
  const bytes = block.toString('hex', 0, BYTES_PER_ID);
  block = block.subarray(BYTES_PER_ID);
  return bytes;
}

/** What all identifiers that `next` makes at a time or later sort behind, and all from a millisecond before do not. */
export const idsFrom = (prefix: string, micros: number): string =>
  `${prefix}_${Math.max(0, Math.floor(micros / 1000))
    .toString(16)
    .padStart(12, '0')}`;

export const randomIds: Ids = {
  // 48 bits of milliseconds, then 80 random bits, both in hexadecimal: sorts by time, so inserts go to an index's end.
  next: (prefix, nowMicros) => `${idsFrom(prefix, nowMicros)}${freshBytes()}`,
  // One that begins with a hyphen would be taken for an option on every command line.
  secret(bytes = 32) {
    let secret: string;
    do secret = randomBytes(bytes).toString('base64url');
    while (secret.startsWith('-'));
    return secret;
  },
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};
