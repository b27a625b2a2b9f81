import { randomBytes, randomUUID } from 'node:crypto';
import { newSecret } from '@lapel/schemas/base/new-secret';

/** The only source of randomness for stored data. Tests inject one that counts. */
export interface Ids {
  /**
   * A new identifier: unique, URL-safe, and beginning with `prefix`. Identifiers sort by the time that they were made
   * at.
   */
  next(prefix: string, nowMicros: number): string;
  /** A secret of `bytes` random bytes (by default 32) as base64url. */
  secret(bytes?: number): string;
  /** Random bytes. */
  bytes(count: number): Buffer;
  /** A random UUID for request ids and token ids. */
  uuid(): string;
}

// Random bytes for `next` are drawn for 400 identifiers at a time: a system call for each would take most of its time.
const BYTES_PER_ID = 10;
let block = Buffer.alloc(0);
function freshBytes(): string {
  if (block.length < BYTES_PER_ID) block = randomBytes(BYTES_PER_ID * 400);
  const bytes = block.toString('hex', 0, BYTES_PER_ID);
  block = block.subarray(BYTES_PER_ID);
  return bytes;
}

/**
 * A text to compare identifiers with: those that `next` makes at this time or later sort after it, and those of at
 * least a millisecond earlier sort before it.
 */
export const idsFrom = (prefix: string, micros: number): string =>
  `${prefix}_${Math.max(0, Math.floor(micros / 1000))
    .toString(16)
    .padStart(12, '0')}`;

export const randomIds: Ids = {
  // 48 bits of milliseconds, then 80 random bits, both in hexadecimal. Such identifiers sort by time, so inserts go to
  // the end of an index.
  next: (prefix, nowMicros) => `${idsFrom(prefix, nowMicros)}${freshBytes()}`,
  secret: newSecret,
  bytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};
