import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { pageOf } from '../../runtime/page.ts';
import { hashSecret } from '../../runtime/secret-hash.ts';
import { createApplicationCache } from './application-cache.ts';
import * as repository from './application-repository.ts';
import { createApplicationSecrets } from './application-secrets.ts';
import { createCertificates } from './certificates.ts';
import { findDeveloper } from './developer-repository.ts';
import { SETTING_NAMES, type SettingName, type Settings } from './setting-columns.ts';
import { signingKeysOf } from './signing-keys-of.ts';

type Application = repository.Application;

interface Options {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Returns the reason why a setting may not have this URL; undefined when it may. */
  urlFault(url: string, name: SettingName): Fault | undefined;
  /** Whether devices are activated for the application; called in the unit of work that would delete it. */
  isInUse(unit: UnitOfWork, applicationId: string): Promise<boolean>;
  /** Called in the unit of work that deletes an application: ends its work. It is notified if it is not deleted yet. */
  endWork(unit: UnitOfWork, applicationId: string): Promise<void>;
  /** Forgets the receivers and consumers of an application, in the unit of work that removes its row. */
  forgetReceivers(unit: UnitOfWork, applicationId: string): Promise<void>;
  /** The ways in which applications may prove by certificate who they are (RFC 8705); by default none. */
  certificateMethods?: readonly string[];
  /** Called when this process has changed an application, so that other nodes can drop it from their caches. */
  changed?(applicationId: string): void;
  /**
   * Called when an application was changed, by this process or another one. Without an `applicationId`, any application
   * may have been changed.
   */
  forgotten?(applicationId?: string): void;
}

export type Applications = ReturnType<typeof createApplications>;

/** Applications, their secrets, settings and authenticationKeys. A secret is returned once, and stored as SHA-256. */
export function createApplications({
  database,
  clock,
  ids,
  log,
  urlFault,
  isInUse,
  endWork,
  forgetReceivers,
  certificateMethods = [],
  ...tells
}: Options) {
  const { changed = () => undefined, forgotten = () => undefined } = tells;
  const cache = createApplicationCache({ clock, freshMs: database.lookAgainMs, changed, forgotten });
  const secrets = createApplicationSecrets({ database, clock, ids, log, changes: cache.changes });

  async function findLive(sql: Sql, applicationId: string): Promise<Application | undefined> {
    const application = await cache.find(sql, applicationId);
    return application?.deletedAt === null ? application : undefined;
  }

  /** Finds an application that is not deleted, as the given connection sees it. Throws APPLICATION_UNREGISTERED. */
  async function findIn(sql: Sql, applicationId: string): Promise<Application> {
    const application = await findLive(sql, applicationId);
    if (!application) throw new DomainError('APPLICATION_UNREGISTERED');
    return application;
  }

  /**
   * Finds and locks an application, so that no other unit changes or deletes it until this one ends. Throws
   * APPLICATION_UNREGISTERED.
   */
  async function lockIn(unit: UnitOfWork, applicationId: string): Promise<Application> {
    const application = await repository.findApplication(unit, applicationId, unit.forUpdate);
    if (application?.deletedAt !== null) throw new DomainError('APPLICATION_UNREGISTERED');
    return application;
  }

  return {
    /** The certificates with which applications get their tokens. */
    certificates: createCertificates({ database, clock, changes: cache.changes, methods: certificateMethods }),

    /**
     * Creates an application. Throws DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING, or APPLICATION_EXISTS when the given id is or was
     * in use.
     */
    async create(
      developerId: string,
      wanted: { applicationId?: string; name: string },
    ): Promise<{ applicationId: string; name: string; secret: string }> {
      const createdAt = clock.now();
      const applicationId = wanted.applicationId ?? ids.next('app', createdAt);
      const { name } = wanted;
      const secret = ids.secret();
      const row = { applicationId, developerId, name, secretHash: hashSecret(secret), createdAt };
      return database.transact(async (unit) => {
        const developer = await findDeveloper(unit, developerId);
        if (!developer) throw new DomainError('DEVELOPER_NOT_FOUND');
        if (developer.removalId !== null) throw new DomainError('DEVELOPER_LEAVING');
        if (!(await repository.insertApplication(unit, row))) throw new DomainError('APPLICATION_EXISTS');
        return { applicationId, name, secret };
      });
    },

    /** Lists a developer's applications without the deleted ones. Throws DEVELOPER_NOT_FOUND. */
    async list(developerId: string, page: { offset: number; limit: number }) {
      if (!(await findDeveloper(database.read, developerId))) throw new DomainError('DEVELOPER_NOT_FOUND');
      return repository.listApplications(database.read, developerId, page);
    },

    /**
     * A page of applications that are not deleted, of one developer or of all, ordered by id. `next` is the `after` of
     * the next page.
     */
    async listAll({ limit, after = '', ...filter }: { developerId?: string; after?: string; limit: number }) {
      const page = { ...filter, after, limit: limit + 1 };
      const rows = await repository.listCountedApplications(database.aside, page);
      return pageOf(rows, limit, (row) => row.applicationId);
    },

    /** Throws APPLICATION_NOT_FOUND. */
    async findCounted(applicationId: string): Promise<repository.CountedApplication> {
      const found = await repository.findCountedApplication(database.read, applicationId);
      if (!found) throw new DomainError('APPLICATION_NOT_FOUND');
      return found;
    },

    /** The settings of all applications, with the endpoints of their webhooks. */
    settingsOfAll: () => repository.listSettings(database.aside),

    /** Applications whose id or name contains a text. */
    search: (text: string, limit: number) => repository.searchApplications(database.aside, text, limit),

    /**
     * Finds an application that is not deleted (op 1); the APIs do so on every request. Throws
     * APPLICATION_UNREGISTERED.
     */
    find: (applicationId: string): Promise<Application> => findIn(database.read, applicationId),

    /** Like `find`, but returns undefined when there is none. */
    findLive: (applicationId: string): Promise<Application | undefined> => findLive(database.read, applicationId),

    /** Like `find`, inside a unit of work. */
    findIn,

    lockIn,

    /**
     * Call this when another process has changed an application; without an `applicationId`, when it may have changed
     * any.
     */
    changedElsewhere: cache.forgetElsewhere,

    ...secrets,

    /**
     * Op 2: changes the settings that the patch names; null removes one. `check` may refuse the change of the settings that
     * it gets, by an error. Returns all settings. Throws REQUEST_INVALID with the faults of all URLs.
     */
    async updateSettings(
      applicationId: string,
      patch: Partial<Settings>,
      check: (known: Settings) => void = () => undefined,
    ): Promise<Settings> {
      const faults = SETTING_NAMES.flatMap((name) => {
        const url = patch[name];
        const fault = typeof url === 'string' ? urlFault(url, name) : undefined;
        return fault ?? [];
      });
      if (faults.length > 0) throw DomainError.invalid(...faults);
      return database.transact(async (unit) => {
        cache.changes(unit, applicationId);
        const application = await lockIn(unit, applicationId);
        check(application.settings);
        const settings = { ...application.settings };
        for (const name of SETTING_NAMES) {
          const url = patch[name];
          if (url !== undefined) settings[name] = url;
        }
        await repository.updateSettings(unit, applicationId, settings);
        return settings;
      });
    },

    /**
     * Op 3: issues a new key for signing notifications, in the form of Standard Webhooks; it replaces the old one at once.
     * For a day notifications are also signed with the former key, so that receivers can change over without a gap.
     */
    async issueKey(applicationId: string): Promise<{ authenticationKey: string }> {
      const authenticationKey = `whsec_${ids.bytes(32).toString('base64')}`;
      return database.transact(async (unit) => {
        cache.changes(unit, applicationId);
        const { authenticationKey: former } = await lockIn(unit, applicationId);
        const change = { key: authenticationKey, former, at: clock.now() };
        await repository.updateAuthenticationKey(unit, applicationId, change);
        return { authenticationKey };
      });
    },

    /**
     * Marks an application as deleted; its tokens and its secret are invalid from then on. Throws APPLICATION_NOT_FOUND,
     * APPLICATION_IN_USE.
     */
    async remove(applicationId: string): Promise<void> {
      await database.transact(async (unit) => {
        // An activation locks the same row. So if no device is activated for the application now, none can be until
        // this unit ends.
        const application = await repository.findApplication(unit, applicationId, unit.forUpdate);
        if (application?.deletedAt !== null) throw new DomainError('APPLICATION_NOT_FOUND');
        if (await isInUse(unit, applicationId)) throw new DomainError('APPLICATION_IN_USE');
        await endWork(unit, applicationId);
        cache.changes(unit, applicationId);
        await repository.markDeleted(unit, applicationId, clock.now());
      });
    },

    /**
     * Marks an application as leaving by a removal, and so as deleted. Its work ends, and it is not notified. One that leaves
     * already stays as it is: compare the `removalId` of the answer. Undefined when there is none.
     */
    async leaveIn(unit: UnitOfWork, applicationId: string, removalId: string): Promise<Application | undefined> {
      const known = await repository.findApplication(unit, applicationId, unit.forUpdate);
      if (!known || known.removalId !== null) return known;
      cache.changes(unit, applicationId);
      await repository.markLeaving(unit, applicationId, removalId);
      if (known.deletedAt === null) {
        await repository.markDeleted(unit, applicationId, clock.now());
        await endWork(unit, applicationId);
      }
      return { ...known, removalId };
    },

    /** Removes the row of an application that leaves, when nothing refers to it any more. Returns the number of rows. */
    async clearIn(unit: UnitOfWork, applicationId: string): Promise<number> {
      const known = await repository.findApplication(unit, applicationId, unit.forRemoval);
      if (!known || known.removalId === null) return 0;
      cache.changes(unit, applicationId);
      await forgetReceivers(unit, applicationId);
      return repository.deleteApplication(unit, applicationId);
    },

    /**
     * The current URL for a setting's webhooks, and the keys that sign them. A deleted application keeps both, because
     * its last webhooks are still sent. Nothing is sent to one that leaves.
     */
    async endpointOf(
      applicationId: string,
      setting: SettingName,
    ): Promise<{ url: string | null; owner: string; keys: string[]; leaves: boolean }> {
      const application = await cache.find(database.read, applicationId);
      return {
        url: application?.settings[setting] ?? null,
        owner: application?.developerId ?? '',
        keys: application ? signingKeysOf(application, clock.now()) : [],
        leaves: !application || application.removalId !== null,
      };
    },
  };
}
