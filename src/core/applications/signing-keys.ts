import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { planRotation, signingAt } from './key-rotation.ts';
import * as repository from './signing-key-repository.ts';

interface SigningKey {
  keyId: string;
  createdAt: number;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
  publicJwk: JWK;
}

// A rotation that fails (a full disk) is tried again after so many milliseconds; the old key signs on.
const RETRY_AFTER = 60_000;
// Microseconds.
const BETWEEN_LOOKS = 1_000_000;

async function readKey(stored: repository.StoredKey): Promise<SigningKey> {
  const { keyId, createdAt } = stored;
  const jwk = JSON.parse(stored.privateJwk) as JWK & { kty: string };
  const { kty, crv, x, y } = jwk;
  const publicJwk = { kty, crv, x, y, kid: keyId, use: 'sig', alg: 'ES256' } as JWK;
  const [privateKey, publicKey] = await Promise.all([importJWK(jwk, 'ES256'), importJWK(publicJwk, 'ES256')]);
  return { keyId, createdAt, privateKey: privateKey as CryptoKey, publicKey: publicKey as CryptoKey, publicJwk };
}

/**
 * The ES256 keys that sign access tokens. They are kept in the database and imported once. One signs; a newer one is
 * published for a while before it signs, the older ones stay published and valid until the last token that they signed has
 * expired. All nodes look at the same times, and one of them does what is due.
 */
export function createSigningKeys(parts: { database: Database; clock: Clock; ids: Ids; log: Log }) {
  const { database, clock, ids, log } = parts;
  let keys: SigningKey[] = []; // oldest first
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> = Promise.resolve();
  let cancelTimer = (): void => undefined;
  let rotation: Promise<void> = Promise.resolve();
  let disposed = false;

  const find = (keyId: string): CryptoKey | undefined => keys.find((key) => key.keyId === keyId)?.publicKey;

  async function make(now: number): Promise<repository.StoredKey> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    return { keyId: ids.next('key', now), privateJwk: JSON.stringify(await exportJWK(privateKey)), createdAt: now };
  }

  /** Reads what there is: others rotate too. */
  function look(): Promise<void> {
    lookedAt = clock.now();
    looking = readAll();
    return looking;
  }

  async function readAll(): Promise<void> {
    const stored = await repository.listSigningKeys(database.read);
    const read = stored.map(async (key) => keys.find(({ keyId }) => keyId === key.keyId) ?? (await readKey(key)));
    keys = await Promise.all(read);
  }

  /** The same where others make keys, at most once a second: every token and caller could ask for it. */
  const lookAgain = (): Promise<void> =>
    database.concurrent && clock.now() >= lookedAt + BETWEEN_LOOKS ? look() : looking;

  async function rotateOnce(): Promise<void> {
    const now = clock.now();
    await look();
    const plan = planRotation(keys, now);
    if (plan.create || plan.remove.length > 0) {
      const made = plan.create ? await make(now) : undefined;
      await database.transact(async (unit) => {
        await repository.lockSigningKeys(unit);
        // Another node may have done it by now.
        const due = planRotation(await repository.listSigningKeys(unit), now);
        if (made && due.create) await repository.insertSigningKey(unit, made);
        for (const keyId of due.remove) await repository.deleteSigningKey(unit, keyId);
      });
      await look();
    }
    arm((planRotation(keys, now).next - now) / 1000);
  }

  function arm(milliseconds: number): void {
    cancelTimer();
    if (disposed) return;
    cancelTimer = clock.after(Math.ceil(milliseconds), () => {
      rotate().catch((cause: unknown) => {
        log.error({ err: cause }, 'rotation of the signing keys failed');
        arm(RETRY_AFTER);
      });
    });
  }

  /** Does what is due now; calls follow one another, so that two make no two keys. */
  function rotate(): Promise<void> {
    const turn = rotation.then(rotateOnce);
    rotation = turn.catch(() => undefined);
    return turn;
  }

  return {
    rotate,
    /** Reads the keys, and makes one when there is none or the newest is too old. */
    start: rotate,
    /** The one that signs. */
    current(): SigningKey {
      const key = signingAt(keys, clock.now());
      if (!key) throw new Error('there is no signing key: start() was not called');
      return key;
    },
    /** Undefined when there is none; one that another node has just made is found. */
    async publicKey(keyId: string): Promise<CryptoKey | undefined> {
      const known = find(keyId);
      if (known) return known;
      await lookAgain();
      return find(keyId);
    },
    /** RFC 7517: the public halves, newest first. */
    async jwks(): Promise<{ keys: JWK[] }> {
      await lookAgain();
      return { keys: keys.map(({ publicJwk }) => publicJwk).reverse() };
    },
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      cancelTimer();
      await rotation;
    },
  };
}
