import { DomainError } from '../../errors.ts';
import type { Database, Sql, UnitOfWork } from '../../platform/database/sql.ts';
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
  /** Deletes what belongs to a developer alone; called in the unit of work that deletes it. */
  forget(unit: UnitOfWork, developerId: string): Promise<void>;
}

export type Developers = ReturnType<typeof createDevelopers>;

/** Developers and their contracts. A `deviceLimit` of null means no contract; unknown ids throw DEVELOPER_NOT_FOUND. */
export function createDevelopers({ database, clock, ids, isInUse, forget }: Parts) {
  const found = (developer: Developer | undefined): Developer => {
    if (!developer) throw new DomainError('DEVELOPER_NOT_FOUND');
    return developer;
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
      };
      return database.transact(async (unit) => {
        if (!(await repository.insertDeveloper(unit, developer, now))) throw new DomainError('DEVELOPER_EXISTS');
        return developer;
      });
    },

    list: (page: { offset: number; limit: number }) => repository.listDevelopers(database.read, page),

    find: async (developerId: string, sql: Sql = database.read): Promise<Developer> =>
      found(await repository.findDeveloper(sql, developerId)),

    /** Developers whose id or name contains a text. */
    search: (text: string, limit: number) => repository.searchDevelopers(database.aside, text, limit),

    /**
     * Deletes a developer. Throws DEVELOPER_NOT_FOUND, and DEVELOPER_IN_USE while it has applications, devices or packages.
     */
    async remove(developerId: string): Promise<void> {
      await database.transact(async (unit) => {
        found(await repository.findDeveloper(unit, developerId, unit.forUpdate));
        if ((await hasApplications(unit, developerId)) || (await isInUse(unit, developerId))) {
          throw new DomainError('DEVELOPER_IN_USE');
        }
        await repository.insertDeveloper(
          unit,
          { developerId: repository.NOBODY, name: '', deviceLimit: null, ...repository.NO_RULES },
          clock.now(),
        );
        await moveDeleted(unit, developerId, repository.NOBODY);
        await forget(unit, developerId);
        await repository.deleteDeveloper(unit, developerId);
      });
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
        const known = found(await repository.findDeveloper(unit, developerId, unit.forUpdate));
        check(known);
        const developer = { ...known, ...patch };
        await repository.updateDeveloper(unit, developer);
        return developer;
      });
    },
  };
}
