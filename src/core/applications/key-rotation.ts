const DAY = 24 * 3600 * 1_000_000;

/** The newest key is so old when another one is made. */
export const KEY_SIGNS_FOR = 30 * DAY;
/** A key is published for so long before it signs: whoever keeps the published ones (for five minutes) knows it by then. */
export const PUBLISHED_BEFORE = 600 * 1_000_000;
/** Microseconds from the last token that a key signs to the key's removal: the token's life, and a minute for clocks and for signing itself. */
export const KEY_STAYS_FOR = (3600 + 60) * 1_000_000;

interface Plan {
  /** The newest key has signed for long enough, or there is none. */
  create: boolean;
  /** Keys whose last token has expired. */
  remove: string[];
  /** When to look again. */
  next: number;
}

/** The key that signs at `now`, of keys that are oldest first: the newest that has been published for long enough, or the first. */
export const signingAt = <Key extends { createdAt: number }>(keys: readonly Key[], now: number): Key | undefined =>
  keys.findLast(({ createdAt }) => createdAt + PUBLISHED_BEFORE <= now) ?? keys[0];

/** What rotation has to do at `now`, all times in microseconds. `keys` are oldest first: a key signs until the next one does. */
export function planRotation(keys: { keyId: string; createdAt: number }[], now: number): Plan {
  const newest = keys.at(-1);
  const create = !newest || now >= newest.createdAt + KEY_SIGNS_FOR;
  const removals = keys.slice(0, -1).map(({ keyId }, index) => {
    const successor = keys[index + 1];
    return { keyId, at: (successor?.createdAt ?? now) + PUBLISHED_BEFORE + KEY_STAYS_FOR };
  });
  const coming = removals.filter(({ at }) => at > now).map(({ at }) => at);
  if (create && newest) coming.push(now + PUBLISHED_BEFORE + KEY_STAYS_FOR);
  return {
    create,
    remove: removals.filter(({ at }) => at <= now).map(({ keyId }) => keyId),
    next: Math.min((create || !newest ? now : newest.createdAt) + KEY_SIGNS_FOR, ...coming),
  };
}
