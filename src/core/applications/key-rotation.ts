import type { Micros } from '../../runtime/units.ts';

const DAY_MICROS = 24 * 3600 * 1_000_000;

/** A new signing key is made when the newest one has this age. */
export const KEY_SIGNS_FOR_MICROS = 30 * DAY_MICROS;
/**
 * A key is published for this time before it signs: nodes and verifiers that cache the keys (for five minutes) then have it.
 */
export const PUBLISHED_BEFORE_MICROS = 600 * 1_000_000;
/**
 * From a key's last token to the key's removal: the validity of the token, and a minute for clock differences and for
 * signing.
 */
export const KEY_STAYS_FOR_MICROS = (3600 + 60) * 1_000_000;

interface Plan {
  /** Whether to make a key: the newest is old enough, or there is none. */
  create: boolean;
  /** The keyIds to remove: the last access token that the key signed has expired. */
  remove: string[];
  /** The time of the next rotation. */
  next: number;
}

/**
 * The key that signs at `now`: the newest that has been published for long enough, or else the first. `keys` are oldest
 * first.
 */
export const signingAt = <Key extends { createdAt: number }>(keys: readonly Key[], now: Micros): Key | undefined =>
  keys.findLast(({ createdAt }) => createdAt + PUBLISHED_BEFORE_MICROS <= now) ?? keys[0];

/** Plans the rotation at `now`; all times are microseconds. `keys` are oldest first; each signs until the next one does. */
export function planRotation(keys: { keyId: string; createdAt: number }[], now: Micros): Plan {
  const newest = keys.at(-1);
  const create = !newest || now >= newest.createdAt + KEY_SIGNS_FOR_MICROS;
  const removals = keys.slice(0, -1).map(({ keyId }, index) => {
    const successor = keys[index + 1];
    return { keyId, at: (successor?.createdAt ?? now) + PUBLISHED_BEFORE_MICROS + KEY_STAYS_FOR_MICROS };
  });
  const coming = removals.filter(({ at }) => at > now).map(({ at }) => at);
  if (create && newest) coming.push(now + PUBLISHED_BEFORE_MICROS + KEY_STAYS_FOR_MICROS);
  return {
    create,
    remove: removals.filter(({ at }) => at <= now).map(({ keyId }) => keyId),
    next: Math.min((create || !newest ? now : newest.createdAt) + KEY_SIGNS_FOR_MICROS, ...coming),
  };
}
