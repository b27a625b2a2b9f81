import { type CryptoKey, exportJWK, generateKeyPair, importJWK, type JWK } from 'jose';
import type { Clock } from '../clock.ts';
import type { Database } from '../database/sql.ts';
import type { Ids } from '../ids.ts';
import type { Log } from '../log.ts';
import { planRotation } from './key-rotation.ts';
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

async function readKey(stored: repository.StoredKey): Promise<SigningKey> {
  const { keyId, createdAt } = stored;
  const jwk = JSON.parse(stored.privateJwk) as JWK & { kty: string };
  const { kty, crv, x, y } = jwk;
  const publicJwk = { kty, crv, x, y, kid: keyId, use: 'sig', alg: 'ES256' } as JWK;
  const [privateKey, publicKey] = await Promise.all([importJWK(jwk, 'ES256'), importJWK(publicJwk, 'ES256')]);
  return { keyId, createdAt, privateKey: privateKey as CryptoKey, publicKey: publicKey as CryptoKey, publicJwk };
}

/**
 * The ES256 keys that sign access tokens. They are kept in the database and imported once; the newest one signs, the
 * older ones stay published and valid until the last token that they signed has expired.
 */
export function createSigningKeys(parts: { database: Database; clock: Clock; ids: Ids; log: Log }) {
  const { database, clock, ids, log } = parts;
  let keys: SigningKey[] = [];
  let cancelTimer = (): void => undefined;
  let rotation: Promise<void> = Promise.resolve();
  let disposed = false;

  async function make(now: number): Promise<repository.StoredKey> {
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    return { keyId: ids.next('key', now), privateJwk: JSON.stringify(await exportJWK(privateKey)), createdAt: now };
  }

  async function rotateOnce(): Promise<void> {
    const now = clock.now();
    const plan = planRotation(keys, now);
    if (plan.create || plan.remove.length > 0) {
      const made = plan.create ? await make(now) : undefined;
      const imported = made ? [await readKey(made)] : [];
      await database.transact(async (unit) => {
        if (made) await repository.insertSigningKey(unit, made);
        for (const keyId of plan.remove) await repository.deleteSigningKey(unit, keyId);
      });
      keys = [...keys.filter(({ keyId }) => !plan.remove.includes(keyId)), ...imported];
    }
    arm((plan.next - now) / 1000);
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
    async start(): Promise<void> {
      keys = await Promise.all((await repository.listSigningKeys(database.read)).map(readKey));
      await rotate();
    },
    /** The one that signs. */
    current(): SigningKey {
      const newest = keys.at(-1);
      if (!newest) throw new Error('there is no signing key: start() was not called');
      return newest;
    },
    publicKey: (keyId: string): CryptoKey | undefined => keys.find((key) => key.keyId === keyId)?.publicKey,
    /** RFC 7517: the public halves, newest first. */
    jwks: (): { keys: JWK[] } => ({ keys: keys.map(({ publicJwk }) => publicJwk).reverse() }),
    async [Symbol.asyncDispose](): Promise<void> {
      disposed = true;
      cancelTimer();
      await rotation;
    },
  };
}
