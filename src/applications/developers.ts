import type { Clock } from '../clock.ts';
import type { Database, Sql } from '../database/sql.ts';
import { DomainError } from '../errors.ts';
import type { Ids } from '../ids.ts';
import * as repository from './developer-repository.ts';

type Developer = repository.Developer;

export type Developers = ReturnType<typeof createDevelopers>;

/** Developers and their contracts. `deviceLimit` null means no contract; unknown ids throw DEVELOPER_NOT_FOUND. */
export function createDevelopers({ database, clock, ids }: { database: Database; clock: Clock; ids: Ids }) {
  const found = (developer: Developer | undefined): Developer => {
    if (!developer) throw new DomainError('DEVELOPER_NOT_FOUND');
    return developer;
  };
  return {
    /** Throws DEVELOPER_EXISTS when the id given is taken; without one the service makes it. */
    async create(wanted: { developerId?: string; name: string; deviceLimit?: number | null }): Promise<Developer> {
      const now = clock.now();
      const developer: Developer = {
        developerId: wanted.developerId ?? ids.next('dev', now),
        name: wanted.name,
        deviceLimit: wanted.deviceLimit ?? null,
      };
      return database.transact(async (unit) => {
        if (!(await repository.insertDeveloper(unit, developer, now))) throw new DomainError('DEVELOPER_EXISTS');
        return developer;
      });
    },

    list: (page: { offset: number; limit: number }) => repository.listDevelopers(database.read, page),

    find: async (developerId: string, sql: Sql = database.read): Promise<Developer> =>
      found(await repository.findDeveloper(sql, developerId)),

    /** Changes what the patch names. A lower limit takes no device away: it only stops further activations (op 5). */
    update(developerId: string, patch: { name?: string; deviceLimit?: number | null }): Promise<Developer> {
      return database.transact(async (unit) => {
        const known = found(await repository.findDeveloper(unit, developerId, unit.forUpdate));
        const developer = { ...known, ...patch };
        await repository.updateDeveloper(unit, developer);
        return developer;
      });
    },
  };
}
