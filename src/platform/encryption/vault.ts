import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { EncryptionKey } from './key-ring.ts';

/** The place of a value: its table, its column, and the identifiers of its row. A value is readable there only. */
export type Place = readonly [table: string, column: string, ...row: (string | number)[]];

/** Encrypts and decrypts single values of the database. Without a key, values are stored as they are. */
export interface Vault {
  /** The text to be stored. */
  seal(place: Place, text: string): string;
  /**
   * The text of a stored value; one that is not encrypted is returned as it is. Throws ENCRYPTION_KEY_MISSING, and an
   * Error for a value that was changed or belongs to another place.
   */
  open(place: Place, stored: string): string;
  /** The number of characters that a text has when it is stored. */
  lengthOf(text: string): number;
  /** Whether new values are encrypted. */
  seals(): boolean;
  /** Whether a stored value is as new ones are: encrypted with the same key, or as it is when there is none. */
  isCurrent(stored: string): boolean;
}

/** `enc:v1:KEYID:` and the base64 of salt, nonce, encrypted text and tag. No value that is stored as it is begins so. */
const PREFIX = 'enc:v1:';
const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const ADDED_BYTES = SALT_BYTES + NONCE_BYTES + TAG_BYTES;
/**
 * The values that are encrypted with one derived key. The nonces are random: with this number, two equal ones under one
 * key have the probability 2^-49.
 */
const VALUES_PER_SALT = 2 ** 24;
/** The most derived keys that are kept for reading; above it the oldest is dropped. */
const KEPT = 1_000;
/** Random bytes are taken from the system for this many nonces at once. */
const NONCES = 256;

/** The keyId of a stored value; null for one that is not encrypted. */
export function keyIdOf(stored: string): string | null {
  return stored.startsWith(PREFIX) ? stored.slice(PREFIX.length, stored.indexOf(':', PREFIX.length)) : null;
}

/** A text by which two holders of a key find out that it is the same one. The key cannot be derived from it. */
export const checkOf = ({ secret }: EncryptionKey): string =>
  createHmac('sha256', secret).update('lapel: check of a key').digest('base64url').slice(0, 22);

/**
 * Each process encrypts with keys of its own, derived from that of the operator by a random salt (RFC 5869). A KeyObject
 * makes an encryption three times as fast as the bytes of the key do.
 */
const derive = (secret: Buffer, salt: Buffer): KeyObject =>
  createSecretKey(Buffer.from(hkdfSync('sha256', secret, salt, 'lapel: values at rest', 32)));

interface Writing {
  keyId: string;
  salt: Buffer;
  key: KeyObject;
  left: number;
}

/** A vault whose keys can be changed while it is used. It begins without keys, and stores values as they are. */
export function createVault() {
  let keys = new Map<string, EncryptionKey>();
  let writing: Writing | null = null;
  const derived = new Map<string, KeyObject>();
  const missing: (() => void)[] = [];
  let nonces = Buffer.alloc(0);
  let used = 0;

  function begin(keyId: string): Writing {
    const salt = randomBytes(SALT_BYTES);
    return { keyId, salt, key: derive((keys.get(keyId) as EncryptionKey).secret, salt), left: VALUES_PER_SALT };
  }

  function nonce(): Buffer {
    if (used === nonces.length) {
      nonces = randomBytes(NONCES * NONCE_BYTES);
      used = 0;
    }
    used += NONCE_BYTES;
    return nonces.subarray(used - NONCE_BYTES, used);
  }

  function keyFor(keyId: string, salt: Buffer): KeyObject {
    if (writing?.keyId === keyId && writing.salt.equals(salt)) return writing.key;
    const name = `${keyId} ${salt.toString('latin1')}`;
    const known = derived.get(name);
    if (known) return known;
    const key = keys.get(keyId);
    if (!key) for (const listener of missing) listener();
    if (!key) throw new DomainError('ENCRYPTION_KEY_MISSING', { values: { keyId } });
    const made = derive(key.secret, salt);
    if (derived.size >= KEPT) derived.delete(derived.keys().next().value as string);
    derived.set(name, made);
    return made;
  }

  return {
    /** Registers a listener for a value whose key is missing; it is called at each such value. */
    onMissing: (listener: () => void): void => void missing.push(listener),
    /** Exchanges the keys. The key that is written with must be among them. */
    setKeys(ring: readonly EncryptionKey[]): void {
      keys = new Map(ring.map((key) => [key.keyId, key]));
      derived.clear();
      if (writing !== null) writing = begin(writing.keyId);
    },
    /** Chooses the key for new values; null: they are stored as they are. */
    writeWith(keyId: string | null): void {
      if (keyId !== (writing?.keyId ?? null)) writing = keyId === null ? null : begin(keyId);
    },
    /** The key for new values. */
    writes: (): string | null => writing?.keyId ?? null,
    /** The key for new values, or `-`, and all keys: for the other nodes. */
    described: (): string => [writing?.keyId ?? '-', ...keys.keys()].join(' '),

    seal(place: Place, text: string): string {
      if (writing === null) return text;
      if (writing.left === 0) writing = begin(writing.keyId);
      writing.left -= 1;
      const iv = nonce();
      const cipher = createCipheriv('aes-256-gcm', writing.key, iv);
      cipher.setAAD(Buffer.from(JSON.stringify(place)));
      const parts = [writing.salt, iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return `${PREFIX}${writing.keyId}:${Buffer.concat(parts).toString('base64')}`;
    },

    open(place: Place, stored: string): string {
      const keyId = keyIdOf(stored);
      if (keyId === null) return stored;
      const bytes = Buffer.from(stored.slice(PREFIX.length + keyId.length + 1), 'base64');
      const salt = bytes.subarray(0, SALT_BYTES);
      const key = keyFor(keyId, salt);
      try {
        const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(JSON.stringify(place)));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(SALT_BYTES + NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
        return text + decipher.final('utf8');
      } catch (cause) {
        const where = JSON.stringify(place);
        throw new Error(`the encrypted value of ${where} was changed, or is that of another row`, { cause });
      }
    },

    seals: (): boolean => writing !== null,

    isCurrent: (stored: string): boolean => keyIdOf(stored) === (writing?.keyId ?? null),

    lengthOf(text: string): number {
      if (writing === null) return text.length;
      const bytes = Buffer.byteLength(text) + ADDED_BYTES;
      return PREFIX.length + writing.keyId.length + 1 + 4 * Math.ceil(bytes / 3);
    },
  } satisfies Vault & Record<string, unknown>;
}

/** Opens a value that may be null. */
export const openOrNull = (vault: Vault, place: Place, stored: string | null): string | null =>
  stored === null ? null : vault.open(place, stored);

/** Seals a value that may be null. */
export const sealOrNull = (vault: Vault, place: Place, text: string | null): string | null =>
  text === null ? null : vault.seal(place, text);
