import { closeSync, fsyncSync, linkSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Vault } from '../encryption/vault.ts';
import { LONGEST_VALIDITY_SECONDS, type StoreCredentials } from './request-signature.ts';

/** The file of the secret keys in the data folder. */
export const KEY_FILE = 'object-store-key';
const ACCESS_KEY_ID = 'lapel';
/** The most former keys that are accepted: each request without a valid signature is compared with all of them. */
const MOST_FORMER = 8;

/** The credentials of the embedded store. */
export interface StoreKey {
  /** Those that new URLs are signed with. */
  current(): StoreCredentials;
  /** Those that are accepted, the newest first. */
  accepted(): StoreCredentials[];
}

/** Credentials that never change, or a key, as a key; undefined without either. */
export function keyOf(given: StoreCredentials | StoreKey | undefined): StoreKey | undefined {
  if (given === undefined || 'current' in given) return given;
  return { current: () => given, accepted: () => [given] };
}

interface Parts {
  folder: string;
  ids: Pick<Ids, 'secret'>;
  clock: Pick<Clock, 'now'>;
  /** Encrypts the file; without it the file is stored as it is. */
  vault?: Vault | undefined;
}

interface Stored {
  secret: string;
  /** When the key ends, in microseconds; null for the newest. */
  endsAt: number | null;
}

const textOf = (keys: readonly Stored[]): string =>
  keys.map(({ secret, endsAt }) => (endsAt === null ? `${secret}\n` : `${secret} ${endsAt}\n`)).join('');

function parse(text: string): Stored[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [secret = '', endsAt] = line.trim().split(' ');
    return { secret, endsAt: endsAt === undefined ? null : Number(endsAt) };
  });
}

/**
 * The key of the embedded store: made at the first start and kept in the data folder, readable by its owner only. The file
 * appears whole or not at all. After a change the file has the keys of before as well, each until the last URL that it has
 * signed has expired.
 */
export function createStoreKey({ folder, ids, clock, vault }: Parts) {
  const file = join(folder, KEY_FILE);
  const place = ['files', KEY_FILE] as const;
  let sealed = '';

  function read(): Stored[] {
    sealed = readFileSync(file, 'utf8');
    const stored = sealed.trimEnd();
    return parse(vault ? vault.open(place, stored) : stored);
  }

  function write(keys: readonly Stored[], put: (draft: string) => void): void {
    const text = textOf(keys);
    const stored = vault ? vault.seal(place, text) : text;
    const draft = `${file}.new`;
    rmSync(draft, { force: true });
    const descriptor = openSync(draft, 'wx', 0o600);
    writeSync(descriptor, stored.endsWith('\n') ? stored : `${stored}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    put(draft);
    rmSync(draft, { force: true });
  }

  function readOrMake(): Stored[] {
    try {
      return read();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    write([{ secret: ids.secret(), endsAt: null }], (draft) => linkSync(draft, file));
    return read();
  }

  let keys = readOrMake();

  function change(changed: Stored[]): void {
    write(changed, (draft) => renameSync(draft, file));
    keys = read();
  }

  const live = (): Stored[] => keys.filter(({ endsAt }) => endsAt === null || clock.now() < endsAt);
  const credentialsOf = ({ secret }: Stored): StoreCredentials => ({
    accessKeyId: ACCESS_KEY_ID,
    secretAccessKey: secret,
  });

  return {
    current: () => credentialsOf(keys[0] as Stored),
    accepted: () => live().map(credentialsOf),

    /**
     * Makes a new key. URLs of the former ones stay valid until they expire; `atOnce` ends them. Throws TOO_MANY_STORE_KEYS
     * when it would end URLs of the oldest before their expiry.
     */
    renew(atOnce: boolean): void {
      const endsAt = clock.now() + LONGEST_VALIDITY_SECONDS * 1_000_000;
      const former = atOnce ? [] : live().map((key) => ({ ...key, endsAt: key.endsAt ?? endsAt }));
      if (former.length > MOST_FORMER) {
        const until = toUtc(Math.min(...former.map((key) => key.endsAt)));
        throw new DomainError('TOO_MANY_STORE_KEYS', { values: { limit: MOST_FORMER, until } });
      }
      change([{ secret: ids.secret(), endsAt: null }, ...former]);
    },

    /** Encrypts the file with the key that is used now, and drops a key that has ended. */
    seal(): void {
      const kept = live();
      if (vault?.isCurrent(sealed) !== false && kept.length === keys.length) return;
      change(kept);
    },
  } satisfies StoreKey & Record<string, unknown>;
}
