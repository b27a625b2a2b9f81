import { DomainError, isDatabaseAway } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Peers } from '../../platform/cluster/peers.ts';
import type { Database } from '../../platform/database/sql.ts';
import { type EncryptionKey, type KeySource, readKeys } from '../../platform/encryption/key-ring.ts';
import { checkOf, type createVault } from '../../platform/encryption/vault.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import * as repository from './encryption-repository.ts';
import { createReEncryption } from './re-encryption.ts';

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'encryptionRewritten'>;
  vault: ReturnType<typeof createVault>;
  source: KeySource;
  /** The keys that were read before the database was opened, the newest first. */
  ring: readonly EncryptionKey[];
  peers: Pick<Peers, 'nodes' | 'bus'>;
}

/** Microseconds between two looks that values with a missing key cause. */
const LOOK_MICROS = 1_000_000;

export type Encryption = Awaited<ReturnType<typeof openEncryption>>;

/** A key that values are encrypted with, or may be. */
export interface KeyState {
  keyId: string;
  /** `current`: new values are encrypted with it; `former`: some values still are; `unused`: no value is. */
  state: 'current' | 'former' | 'unused';
}

/** The sentence about a key of the database that this node has not got, or has otherwise; undefined when there is none. */
export function faultOfRing(
  ring: readonly EncryptionKey[],
  stored: readonly Pick<repository.StoredKey, 'keyId' | 'proof'>[],
): string | undefined {
  for (const { keyId, proof } of stored) {
    const own = ring.find((key) => key.keyId === keyId);
    if (!own) return `the key ${keyId} is missing: secrets of this database are encrypted with it`;
    if (checkOf(own) !== proof)
      return `the key ${keyId} is another one than that which encrypted secrets of this database`;
  }
  return undefined;
}

const settingOf = (source: KeySource): string =>
  source !== null && 'command' in source ? 'LAPEL_ENCRYPTION_KEY_COMMAND' : 'LAPEL_ENCRYPTION_KEY_FILE';

/**
 * Decides with which key secrets are encrypted at rest, and changes it. The database names the current key, so all nodes
 * use the same one, also while their files differ. Throws SETTING_INVALID when this node lacks a key of the database: it
 * could not read some secrets, and would find out in the middle of its work.
 */
export async function openEncryption({ database, clock, log, metrics, vault, source, peers, ...parts }: Parts) {
  let ring = parts.ring;
  const listeners: (() => void)[] = [];

  const invalid = (problem: string): DomainError =>
    new DomainError('SETTING_INVALID', { values: { setting: settingOf(source), problem } });

  const others = () => peers.nodes.encryption();
  const lacking = (keyId: string): string[] => [
    ...(ring.some((key) => key.keyId === keyId) ? [] : [peers.nodes.id()]),
    ...others().flatMap(({ nodeId, has }) => (has.includes(keyId) ? [] : [nodeId])),
  ];
  const notWriting = (keyId: string): string[] => [
    ...(vault.writes() === keyId ? [] : [peers.nodes.id()]),
    ...others().flatMap(({ nodeId, writes }) => (writes === keyId ? [] : [nodeId])),
  ];

  /** Reads which key is the current one, and writes with it from now on. */
  async function apply(): Promise<void> {
    const stored = await repository.listKeys(database.read);
    const fault = faultOfRing(ring, stored);
    if (fault !== undefined) throw invalid(fault);
    vault.writeWith(stored.find(({ state }) => state === 'current')?.keyId ?? null);
    for (const listener of listeners) listener();
  }

  /** Reads the keys again. Throws SETTING_INVALID, and keeps those that it has, when the new ones cannot be used. */
  async function readAgain(): Promise<void> {
    const read = await readKeys(source);
    const fault = faultOfRing(read, await repository.listKeys(database.read));
    if (fault !== undefined) throw invalid(fault);
    ring = read;
    vault.setKeys(ring);
  }

  /** Follows a change: of the keys (`read`), or of the current one among them (`use`). */
  async function follow(change: string): Promise<void> {
    if (change === 'read') await readAgain();
    await apply();
    peers.nodes.told();
  }

  /** For hints: a node whose keys cannot be read goes on with those that it has, and says so. */
  async function followQuietly(change: string): Promise<void> {
    await follow(change).catch((err: unknown) => {
      if (!isDatabaseAway(err)) log.error({ err }, 'the encryption keys could not be read again');
    });
  }

  let trouble: string | undefined;
  let looking: Promise<void> | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;

  async function look(): Promise<void> {
    const stored = await repository.listKeys(database.read);
    const current = stored.find(({ state }) => state === 'current')?.keyId ?? null;
    let fault = faultOfRing(ring, stored);
    if (fault === undefined && current === vault.writes()) {
      trouble = undefined;
      return;
    }
    try {
      await follow('read');
      fault = undefined;
      log.info({ keyId: vault.writes() }, 'a change of the encryption key was missed: the keys were read again');
    } catch (err) {
      if (isDatabaseAway(err)) throw err;
      fault ??= (err as Error).message;
      if (fault !== trouble) log.error({ err }, 'the encryption keys could not be read again');
    }
    trouble = fault;
  }

  /** Compares the keys with those of the database, and reads them again if a change was missed; once at a time. */
  const lookAgain = (): Promise<void> => {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  };

  vault.onMissing(() => {
    if (clock.now() - lookedAt < LOOK_MICROS) return;
    lookedAt = clock.now();
    lookAgain().catch(() => undefined); // the next missing key looks again
  });

  async function makeCurrent(unit: Parameters<typeof repository.makeCurrent>[0], keyId: string): Promise<void> {
    const key = ring.find((one) => one.keyId === keyId);
    if (!key) throw new DomainError('ENCRYPTION_KEY_MISSING', { values: { keyId } });
    await repository.makeCurrent(unit, { keyId, proof: checkOf(key) }, clock.now());
  }

  /** Begins to encrypt in a database without encrypted values, if all nodes have the key. */
  async function begin(newest: EncryptionKey): Promise<void> {
    if (lacking(newest.keyId).length > 0) return;
    await database.transact(async (unit) => {
      await repository.lockEncryption(unit);
      const stored = await repository.listKeys(unit);
      if (stored.length === 0) await makeCurrent(unit, newest.keyId);
    });
    peers.bus.broadcast({ kind: 'keys', about: 'use' });
  }

  const [newest] = ring;
  if (newest && (await repository.listKeys(database.read)).length === 0) await begin(newest);
  await apply();
  if (!newest) log.info('no encryption key is set, so secrets are stored as they are (LAPEL_ENCRYPTION_KEY_FILE)');
  else if (vault.writes() !== newest.keyId)
    log.warn({ keyId: newest.keyId }, 'the newest encryption key is not used yet: `lapel keys rotate` changes to it');

  const work = createReEncryption({
    database,
    clock,
    log,
    metrics,
    leads: peers.nodes.leads,
    lacking,
    notWriting,
    makeCurrent,
    async tell(change) {
      peers.bus.broadcast({ kind: 'keys', about: change });
      await follow(change);
    },
  });
  peers.bus.on('keys', (change) => void followQuietly(change).then(work.wake));
  peers.bus.onGap(() => void followQuietly('use'));

  return {
    start: work.start,
    /** Registers a listener that is called when new values may be encrypted with another key. */
    onChange: (listener: () => void): void => void listeners.push(listener),
    idle: work.idle,
    lookAgain,
    /** Why this node cannot read all secrets; undefined when it can. It looks, because a node may have missed a change. */
    async trouble(): Promise<string | undefined> {
      await lookAgain();
      return trouble;
    },
    /** Reads the keys again, and begins to encrypt all secrets with the newest one. Throws ENCRYPTION_KEYS_UNUSABLE. */
    async rotate(): Promise<void> {
      if (source === null)
        throw new DomainError('ENCRYPTION_KEYS_UNUSABLE', {
          values: { problem: 'LAPEL_ENCRYPTION_KEY_FILE is not set' },
        });
      await readAgain().catch((cause: unknown) => {
        if (!(cause instanceof DomainError && cause.code === 'SETTING_INVALID')) throw cause;
        throw new DomainError('ENCRYPTION_KEYS_UNUSABLE', { values: { problem: cause.message } });
      });
      peers.nodes.told();
      const keyId = (ring[0] as EncryptionKey).keyId;
      await database.transact(async (unit) => {
        await repository.lockEncryption(unit);
        const known = await repository.findRotation(unit);
        if (known && known.state !== 'ended' && known.keyId === keyId) return;
        await repository.saveRotation(unit, {
          keyId,
          state: 'waiting',
          place: null,
          rewritten: 0,
          requestedAt: clock.now(),
          startedAt: null,
          settlesAt: null,
          endedAt: null,
        });
      });
      peers.bus.broadcast({ kind: 'keys', about: 'read' });
      work.wake();
    },

    /** The keys of this node and of the database, and the latest rotation. */
    async state() {
      const [stored, rotation] = await Promise.all([
        repository.listKeys(database.read),
        repository.findRotation(database.read),
      ]);
      const states = new Map<string, KeyState['state']>(ring.map(({ keyId }) => [keyId, 'unused']));
      for (const { keyId, state } of stored) states.set(keyId, state);
      const waits =
        !rotation || rotation.state === 'ended' || rotation.state === 'settling'
          ? []
          : rotation.state === 'waiting'
            ? lacking(rotation.keyId)
            : notWriting(rotation.keyId);
      return {
        keys: [...states].map(([keyId, state]): KeyState => ({ keyId, state })),
        rotation: rotation && { ...rotation, waitsFor: waits },
      };
    },

    [Symbol.asyncDispose]: work.stop,
  };
}
