import { isGenuine, readPublicKey } from '@lapel/schemas/base/software-key';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import { type Developer, findDeveloper } from '../applications/developer-repository.ts';
import { requireVersion, type VersionName } from './ownership.ts';
import * as repository from './signature-repository.ts';
import { refusalOf } from './trust.ts';

interface Parts {
  database: Database;
  clock: Clock;
  unavailable(): void;
}

/** The keys that a developer may have at a time. */
const MOST_KEYS = 20;

type SoftwareKey = repository.SoftwareKey;
type Signature = repository.Signature;

function requireDeveloper(found: Developer | undefined): Developer {
  if (!found) throw new DomainError('DEVELOPER_NOT_FOUND');
  return found;
}

const wrong = (field: string, msg: string): DomainError =>
  DomainError.invalid({ loc: ['body', field], msg, type: 'string_pattern_mismatch' });

/**
 * The keys of developers, with which versions are signed. Only administration changes them: a thief with the secret of an
 * application, such as that of a CI server, must not be able to add a key.
 */
export function createSoftwareKeys({ database, clock, unavailable }: Parts) {
  return {
    /** Throws DEVELOPER_NOT_FOUND. */
    async list(developerId: string): Promise<SoftwareKey[]> {
      requireDeveloper(await findDeveloper(database.read, developerId));
      return repository.listKeys(database.read, developerId);
    },

    /** The keys of a developer, with its rules. */
    async trust(
      developerId: string,
    ): Promise<Pick<Developer, 'softwareSignatures' | 'certificateChange'> & { keys: SoftwareKey[] }> {
      const { softwareSignatures, certificateChange } = requireDeveloper(
        await findDeveloper(database.read, developerId),
      );
      return { softwareSignatures, certificateChange, keys: await repository.listKeys(database.read, developerId) };
    },

    /**
     * Throws DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING, REQUEST_INVALID (no key of ed25519), SOFTWARE_KEY_EXISTS,
     * TOO_MANY_SOFTWARE_KEYS.
     */
    async add(developerId: string, wanted: { name: string; publicKey: string }): Promise<SoftwareKey> {
      const read = readPublicKey(wanted.publicKey);
      if (!read) throw wrong('publicKey', 'Value should be a public key of ed25519 in PEM');
      const { keyId, pem: publicKey } = read;
      const key = { keyId, name: wanted.name, publicKey, createdAt: clock.now() };
      return database.transact(async (unit) => {
        const { removalId } = requireDeveloper(await findDeveloper(unit, developerId, unit.forUpdate));
        if (removalId !== null) throw new DomainError('DEVELOPER_LEAVING');
        const keys = await repository.listKeys(unit, developerId);
        if (keys.some((known) => known.keyId === keyId)) throw new DomainError('SOFTWARE_KEY_EXISTS');
        if (keys.length >= MOST_KEYS) throw new DomainError('TOO_MANY_SOFTWARE_KEYS', { values: { limit: MOST_KEYS } });
        await repository.insertKey(unit, developerId, key);
        return key;
      });
    },

    /**
     * Takes a key away. What was signed with it does not verify from now on, and is not distributed. Throws
     * DEVELOPER_NOT_FOUND, SOFTWARE_KEY_NOT_FOUND.
     */
    async revoke(developerId: string, keyId: string): Promise<void> {
      await database.transact(async (unit) => {
        requireDeveloper(await findDeveloper(unit, developerId, unit.forUpdate));
        if (!(await repository.deleteKey(unit, developerId, keyId))) throw new DomainError('SOFTWARE_KEY_NOT_FOUND');
        unit.onCommit(unavailable);
      });
    },
  };
}

/** The signatures of versions. All methods throw PACKAGE_NOT_FOUND and VERSION_NOT_FOUND. */
export function createSignatures({ database, clock, unavailable }: Parts) {
  return {
    /**
     * Reads the signature, and why it does not verify; the problem is null when it does, whatever the stored file is.
     * Throws SIGNATURE_NOT_FOUND.
     */
    async find(developerId: string, name: VersionName): Promise<Signature & { problem: string | null }> {
      const { binaryId } = await requireVersion(database.read, developerId, name);
      const { signature } = (await repository.findDemands(database.read, developerId, binaryId)) ?? {};
      if (!signature) throw new DomainError('SIGNATURE_NOT_FOUND');
      const refusal = refusalOf(name, { softwareSignatures: 'optional', signature }, undefined);
      return { ...signature, problem: refusal?.values['problem'] ?? null };
    },

    /**
     * Stores the signature of a version, before or after its file is uploaded. Throws REQUEST_INVALID when the key is not
     * one of the developer's, or the signature does not verify.
     */
    put(
      developerId: string,
      name: VersionName,
      wanted: { keyId: string; sha256: string; signature: string },
    ): Promise<Signature> {
      return database.transact(async (unit) => {
        const { binaryId } = await requireVersion(unit, developerId, name, unit.forUpdate);
        const key = await repository.findKey(unit, developerId, wanted.keyId);
        if (!key) throw wrong('keyId', 'Value should be the keyId of a key of the developer');
        if (!isGenuine(key.publicKey, name, wanted)) {
          throw wrong('signature', 'Value should be a signature by this key for this package, version and SHA-256');
        }
        const signature = { ...wanted, signedAt: clock.now() };
        await repository.saveSignature(unit, binaryId, signature);
        return signature;
      });
    },

    /** Removes the signature of a version; succeeds when there is none. */
    async remove(developerId: string, name: VersionName): Promise<void> {
      await database.transact(async (unit) => {
        const { binaryId } = await requireVersion(unit, developerId, name, unit.forUpdate);
        await repository.deleteSignature(unit, binaryId);
        unit.onCommit(unavailable);
      });
    },
  };
}
