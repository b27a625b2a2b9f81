import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Lock, Sql, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import { hasApplications, moveDeleted } from './application-repository.ts';
import * as repository from './developer-repository.ts';

type Developer = repository.Developer;
/** The rules for the software of a developer. */
type Rules = Partial<Pick<Developer, 'softwareSignatures' | 'certificateChange'>>;

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  /** Whether the developer has devices or packages; called in the unit of work that would delete it. */
  isInUse(unit: UnitOfWork, developerId: string): Promise<boolean>;
  /** Forgets what was counted for a developer, in the unit of work that removes it. */
  forgetUsage(unit: UnitOfWork, developerId: string): Promise<void>;
  /** Deletes its software keys and its people, in the same unit of work. */
  forgetKeys(unit: UnitOfWork, developerId: string): Promise<void>;
}

export type Developers = ReturnType<typeof createDevelopers>;

/** Developers and their contracts. A `deviceLimit` of null means no contract; unknown ids throw DEVELOPER_NOT_FOUND. */
export function createDevelopers({ database, clock, ids, isInUse, forgetUsage, forgetKeys }: Parts) {
  const found = (developer: Developer | undefined): Developer => {
    if (!developer) throw new DomainError('DEVELOPER_NOT_FOUND');
    return developer;
  };
  const staying = (developer: Developer | undefined): Developer => {
    if (found(developer).removalId !== null) throw new DomainError('DEVELOPER_LEAVING');
    return found(developer);
  };
  return {
    /** Creates a developer. Throws DEVELOPER_EXISTS when the given id is taken; without one, the service makes an id. */
    async create(
      wanted: { developerId?: string; name: string; deviceLimit?: number | null } & Rules,
    ): Promise<Developer> {
      const now = clock.now();
      const developer: Developer = {
        developerId: wanted.developerId ?? ids.next('dev', now),
        name: wanted.name,
        deviceLimit: wanted.deviceLimit ?? null,
        softwareSignatures: wanted.softwareSignatures ?? repository.NO_RULES.softwareSignatures,
        certificateChange: wanted.certificateChange ?? repository.NO_RULES.certificateChange,
        removalId: null,
      };
      return database.transact(async (unit) => {
        if (!(await repository.insertDeveloper(unit, developer, now))) throw new DomainError('DEVELOPER_EXISTS');
        return developer;
      });
    },

    list: (page: { offset: number; limit: number }) => repository.listDevelopers(database.read, page),

    find: async (developerId: string, sql: Sql = database.read): Promise<Developer> =>
      found(await repository.findDeveloper(sql, developerId)),

    /** Finds a developer who may get applications and devices. Throws DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING. */
    findStaying: async (developerId: string, sql: Sql = database.read, lock: Lock = ''): Promise<Developer> =>
      staying(await repository.findDeveloper(sql, developerId, lock)),

    /** Developers whose id or name contains a text. */
    search: (text: string, limit: number) => repository.searchDevelopers(database.aside, text, limit),

    /**
     * Deletes a developer. Throws DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING, and DEVELOPER_IN_USE while it has applications,
     * devices or packages.
     */
    async remove(developerId: string): Promise<void> {
      await database.transact(async (unit) => {
        staying(await repository.findDeveloper(unit, developerId, unit.forUpdate));
        if ((await hasApplications(unit, developerId)) || (await isInUse(unit, developerId))) {
          throw new DomainError('DEVELOPER_IN_USE');
        }
        await repository.insertDeveloper(
          unit,
          { developerId: repository.NOBODY, name: '', deviceLimit: null, ...repository.NO_RULES },
          clock.now(),
        );
        await moveDeleted(unit, developerId, repository.NOBODY);
        await forgetKeys(unit, developerId);
        await repository.deleteDeveloper(unit, developerId);
      });
    },

    /**
     * Marks a developer as leaving by a removal. One that leaves already stays as it is: compare the `removalId` of the
     * answer. Undefined when there is none.
     */
    async leaveIn(unit: UnitOfWork, developerId: string, removalId: string): Promise<Developer | undefined> {
      if (developerId === repository.NOBODY) return undefined;
      const known = await repository.findDeveloper(unit, developerId, unit.forUpdate);
      if (!known || known.removalId !== null) return known;
      await repository.markLeaving(unit, developerId, removalId);
      return { ...known, removalId };
    },

    /** Removes the row of a developer who leaves, when nothing refers to it any more. */
    async clearIn(unit: UnitOfWork, developerId: string): Promise<void> {
      const known = await repository.findDeveloper(unit, developerId, unit.forUpdate);
      if (!known || known.removalId === null) return;
      await forgetUsage(unit, developerId);
      await forgetKeys(unit, developerId);
      await repository.deleteDeveloper(unit, developerId);
    },

    /**
     * Changes the fields that the patch names. A lower limit deactivates no device; it only stops further activations (op
     * 5). `check` may refuse the change of the state that it gets, by an error.
     */
    update(
      developerId: string,
      patch: { name?: string; deviceLimit?: number | null } & Rules,
      check: (known: Developer) => void = () => undefined,
    ): Promise<Developer> {
      return database.transact(async (unit) => {
        const known = staying(await repository.findDeveloper(unit, developerId, unit.forUpdate));
        check(known);
        const developer = { ...known, ...patch };
        await repository.updateDeveloper(unit, developer);
        return developer;
      });
    },
  };
}
