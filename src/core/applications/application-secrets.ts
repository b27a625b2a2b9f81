import { DomainError } from '@lapel/schemas/contracts/errors';
import type { ApplicationAuthentication } from '@lapel/schemas/contracts/types';
import { createLastUses } from '../../platform/database/last-uses.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { hashSecret, matchesSecret, secretMarkOf } from '../../runtime/secret-hash.ts';
import type { Micros } from '../../runtime/units.ts';
import { type ApplicationSecret, findProofs, saveSecrets, saveSecretUse } from './secret-repository.ts';

/** The most valid secrets of an application: one that is used, and one that is to take its place. */
const MOST_SECRETS = 2;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Called in a unit of work that changes the secrets of an application. */
  changes(unit: UnitOfWork, applicationId: string): void;
}

type Shown = Omit<ApplicationSecret, 'hash'>;

const shown = ({ hash: _hash, ...secret }: ApplicationSecret): Shown => secret;

/**
 * The secrets of applications. An application can have two at a time, so that its programs change over one after another. A
 * secret that ends, ends the access tokens that were issued for it, and their streams.
 */
export function createApplicationSecrets({ database, clock, ids, log, changes }: Parts) {
  const uses = createLastUses({ database, clock, log });

  async function lockSecrets(unit: UnitOfWork, applicationId: string): Promise<ApplicationSecret[]> {
    const found = await findProofs(unit, applicationId, clock.now(), unit.forUpdate);
    if (!found) throw new DomainError('APPLICATION_NOT_FOUND');
    changes(unit, applicationId);
    return found.secrets;
  }

  function make(name: string | null): { secret: string; stored: ApplicationSecret } {
    const secret = ids.secret();
    const hash = hashSecret(secret);
    const stored = { secretId: secretMarkOf(hash), hash, name, createdAt: clock.now(), usedAt: null, endsAt: null };
    return { secret, stored };
  }

  return {
    /** The valid secrets of an application, the newest first. Throws APPLICATION_NOT_FOUND. */
    async listSecrets(applicationId: string): Promise<Shown[]> {
      const found = await findProofs(database.read, applicationId, clock.now());
      if (!found) throw new DomainError('APPLICATION_NOT_FOUND');
      return found.secrets.map(shown);
    },

    /**
     * Issues another secret. The one before stays valid until `formerEndsAt`, or until it is ended. Throws
     * APPLICATION_NOT_FOUND, TOO_MANY_SECRETS.
     */
    addSecret(
      applicationId: string,
      { name, formerEndsAt }: { name: string | null; formerEndsAt: Micros | null },
    ): Promise<Shown & { secret: string }> {
      const { secret, stored } = make(name);
      return database.transact(async (unit) => {
        const [former, ...others] = await lockSecrets(unit, applicationId);
        if (others.length + 1 >= MOST_SECRETS)
          throw new DomainError('TOO_MANY_SECRETS', { values: { limit: MOST_SECRETS } });
        await saveSecrets(unit, applicationId, stored, former && { ...former, endsAt: formerEndsAt });
        return { ...shown(stored), secret };
      });
    },

    /**
     * Ends a secret at once, with the access tokens and streams that were opened with it. Throws APPLICATION_NOT_FOUND,
     * SECRET_NOT_FOUND, LAST_SECRET.
     */
    async endSecret(applicationId: string, secretId: string): Promise<void> {
      await database.transact(async (unit) => {
        const secrets = await lockSecrets(unit, applicationId);
        if (!secrets.some((secret) => secret.secretId === secretId)) throw new DomainError('SECRET_NOT_FOUND');
        const left = secrets.find((secret) => secret.secretId !== secretId);
        if (!left) throw new DomainError('LAST_SECRET');
        await saveSecrets(unit, applicationId, { ...left, endsAt: null });
      });
    },

    /**
     * Replaces all secrets by a new one. They end at once, with the access tokens and streams that were opened with them.
     * Throws APPLICATION_NOT_FOUND.
     */
    replaceSecret(applicationId: string): Promise<{ secret: string }> {
      const { secret, stored } = make(null);
      return database.transact(async (unit) => {
        await lockSecrets(unit, applicationId);
        await saveSecrets(unit, applicationId, stored);
        return { secret };
      });
    },

    /**
     * Compares a secret, in constant time, with those of an application that is not deleted. Returns the mark of the
     * secret for the access token, and whether the secret gets one; undefined when the secret is wrong.
     */
    async authenticateClient(
      applicationId: string,
      secret: string,
    ): Promise<{ secretMark: string; authentication: ApplicationAuthentication } | undefined> {
      const proofs = await findProofs(database.read, applicationId, clock.now());
      const { secrets = [], authentication = 'secret' } = proofs ?? {};
      // As many comparisons for each caller, so that the time tells nothing of the number of secrets.
      const matches = Array.from({ length: MOST_SECRETS }, (_, index) => matchesSecret(secret, secrets[index]?.hash));
      const found = secrets[matches.indexOf(true)];
      if (!found) return undefined;
      const { secretId, hash, usedAt } = found;
      uses.note(secretId, usedAt, (unit, at) => saveSecretUse(unit, applicationId, hash, at));
      return { secretMark: secretId, authentication };
    },
  };
}
