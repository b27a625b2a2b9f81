import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { ClockTrust } from '../../runtime/clock-trust.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { Micros, Millis } from '../../runtime/units.ts';
import { PUBLISHED_BEFORE_MICROS, planRotation, signingAt } from './key-rotation.ts';
import * as repository from './signing-key-repository.ts';

interface SigningKey {
  keyId: string;
  createdAt: Micros;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  publicJwk: JWK;
}

// A rotation that fails (a full disk) is tried again after this many milliseconds; the old key goes on signing.
const RETRY_AFTER_MS = 60_000;
/** Milliseconds between two reads that no caller waits for, where other nodes change the keys. */
const LOST_HINT_MS = 5_000;

async function readKey(stored: repository.StoredKey): Promise<SigningKey> {
  const { keyId, createdAt } = stored;
  const jwk = JSON.parse(stored.privateJwk) as JWK & { kty: string };
  const { kty, crv, x, y } = jwk;
  const publicJwk = { kty, crv, x, y, kid: keyId, use: 'sig', alg: 'ES256' } as JWK;
  const [privateKey, publicKey] = await Promise.all([importJWK(jwk, 'ES256'), importJWK(publicJwk, 'ES256')]);
  return { keyId, createdAt, privateKey: privateKey as CryptoKey, publicKey: publicKey as CryptoKey, publicJwk };
}

/**
 * The ES256 keys that sign access tokens, kept in the database and imported once. One key signs. A newer key is published
 * for a while before it signs; older keys stay published and valid until the last token that they signed has expired. All
 * nodes follow the same schedule, and one of them carries out each rotation.
 */
export function createSigningKeys(parts: {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  trust: Pick<ClockTrust, 'isHeld' | 'whenBelieved'>;
}) {
  const { database, clock, ids, log, trust } = parts;
  let keys: SigningKey[] = []; // oldest first
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> = Promise.resolve();
  let cancelTimer = (): void => undefined;
  let rotation: Promise<void> = Promise.resolve();
  let disposed = false;
  let reads = 0;

  const find = (keyId: string): CryptoKey | undefined => keys.find((key) => key.keyId === keyId)?.publicKey;

  async function make(now: Micros): Promise<repository.StoredKey> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    return { keyId: ids.next('key', now), privateJwk: JSON.stringify(await exportJWK(privateKey)), createdAt: now };
  }

  /** Reads the stored keys, because other nodes rotate them too. */
  function readAgain(): Promise<void> {
    readAt = clock.now();
    reading = readAll();
    return reading;
  }

  async function readAll(): Promise<void> {
    reads += 1;
    const own = reads;
    const stored = await repository.listSigningKeys(database.read);
    const read = stored.map(async (key) => keys.find(({ keyId }) => keyId === key.keyId) ?? (await readKey(key)));
    const found = await Promise.all(read);
    // A read that began earlier may end later, and would bring back keys that were removed meanwhile.
    if (own === reads) keys = found;
  }

  /**
   * Reads the keys from the database if other nodes may have changed them. Any caller can cause this by a token with an
   * unknown key, so the keys of the last second count as they are.
   */
  const readIfOld = (): Promise<void> => (isOld(database.lookAgainMs) ? readAgain() : reading);

  const isOld = (afterMs: Millis): boolean => clock.now() >= readAt + afterMs * 1000;

  /** Reads the keys again, in the background, when the hint that another node has changed them may have been lost. */
  function refreshIfOld(): void {
    if (!isOld(Math.max(LOST_HINT_MS, database.lookAgainMs))) return;
    readAgain().catch((err: unknown) => {
      if (!isDatabaseAway(err)) log.warn({ err }, 'the signing keys could not be read again');
    });
  }

  const armNow = (): void => arm(0);

  async function rotateOnce(): Promise<void> {
    const now = clock.now();
    await readAgain();
    if (keys.length > 0 && trust.isHeld()) {
      trust.whenBelieved(armNow);
      return;
    }
    const plan = planRotation(keys, now);
    if (plan.create || plan.remove.length > 0) {
      const made = plan.create ? await make(now) : undefined;
      await database.transact(async (unit) => {
        await repository.lockSigningKeys(unit);
        // Another node may have rotated the keys meanwhile.
        const due = planRotation(await repository.listSigningKeys(unit), now);
        if (made && due.create) await repository.insertSigningKey(unit, made);
        for (const keyId of due.remove) await repository.deleteSigningKey(unit, keyId);
      });
      await readAgain();
    }
    arm((planRotation(keys, now).next - now) / 1000);
  }

  function arm(milliseconds: number): void {
    cancelTimer();
    if (disposed) return;
    cancelTimer = clock.after(Math.ceil(milliseconds), () => {
      rotate().catch((cause: unknown) => {
        log.error({ err: cause }, 'rotation of the signing keys failed');
        arm(RETRY_AFTER_MS);
      });
    });
  }

  /** Carries out the rotation that is due. Calls run one after another, so that two of them do not make two keys. */
  function rotate(): Promise<void> {
    const turn = rotation.then(rotateOnce);
    rotation = turn.catch(() => undefined);
    return turn;
  }

  /** Makes a new key, as `renew` says. Returns false when the latest key is so new that another one would change nothing. */
  async function renewOnce(atOnce: boolean): Promise<boolean> {
    const now = clock.now();
    const made = await make(now);
    const isMade = await database.transact(async (unit) => {
      await repository.lockSigningKeys(unit);
      const stored = await repository.listSigningKeys(unit);
      const newest = stored.at(-1);
      if (!atOnce && newest && now < newest.createdAt + PUBLISHED_BEFORE_MICROS) return false;
      if (atOnce) for (const { keyId } of stored) await repository.deleteSigningKey(unit, keyId);
      await repository.insertSigningKey(unit, made);
      return true;
    });
    try {
      await rotateOnce();
    } catch (err) {
      // The change is committed: the others must hear of it, and this node reads it again as soon as it can.
      log.error({ err }, 'the signing keys could not be read after a change');
      arm(RETRY_AFTER_MS);
    }
    return isMade;
  }

  return {
    rotate,
    /**
     * Makes a new key. It signs when it has been published for long enough, and the tokens of the former key stay valid;
     * `atOnce` removes all other keys, which ends their tokens.
     */
    renew(atOnce: boolean): Promise<boolean> {
      const turn = rotation.then(() => renewOnce(atOnce));
      rotation = turn.then(
        () => undefined,
        () => undefined,
      );
      return turn;
    },
    /** Reads the keys after another node has changed them. */
    readAgain,
    /** Whether a key is still valid, as far as this node knows. */
    has: (keyId: string): boolean => {
      refreshIfOld();
      return find(keyId) !== undefined;
    },
    /** The keys, oldest first, and which of them signs now. */
    state: () => {
      const signs = signingAt(keys, clock.now())?.keyId;
      const at = keys.findIndex(({ keyId }) => keyId === signs);
      return keys.map(({ keyId, createdAt }, index) => ({
        keyId,
        createdAt,
        state: index === at ? ('signs' as const) : index < at ? ('former' as const) : ('next' as const),
      }));
    },
    /** Reads the keys, and makes one when there is none or the newest is too old. */
    start: rotate,
    /** The key that signs now. */
    current(): SigningKey {
      const key = signingAt(keys, clock.now());
      if (!key) throw new Error('there is no signing key: start() was not called');
      return key;
    },
    /** Finds a public key, also one that another node has just made; undefined when there is none. */
    async publicKey(keyId: string): Promise<CryptoKey | undefined> {
      refreshIfOld();
      const known = find(keyId);
      if (known) return known;
      await readIfOld();
      return find(keyId);
    },
    /** The public keys in the form of RFC 7517, newest first. */
    async jwks(): Promise<{ keys: JWK[] }> {
      await readIfOld();
      return { keys: keys.map(({ publicJwk }) => publicJwk).reverse() };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      cancelTimer();
      await rotation;
    },
  };
}
