import type { KeyObject } from 'node:crypto';

/**
 * The y coordinates of the points of ed25519 whose order divides 8, also those that are not reduced, with the sign bit
 * cleared. Anybody can make a signature that such a key accepts for every text.
 */
const LOW_ORDER = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
  'eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
]);
const KEY_BYTES = 32;

/** Whether a public key of ed25519 is a point of low order (RFC 8032 5.1; RFC 7748 6.1 has the same for x25519). */
export function isLowOrder(key: KeyObject): boolean {
  const raw = Buffer.from(key.export({ format: 'der', type: 'spki' }).subarray(-KEY_BYTES));
  raw[KEY_BYTES - 1]! &= 0x7f;
  return LOW_ORDER.has(raw.toString('hex'));
}
