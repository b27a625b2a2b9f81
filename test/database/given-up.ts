import { DomainError } from '../../src/errors.ts';
import type { Database } from '../../src/platform/database/sql.ts';

type Kind = 'transactSoon' | 'transactAlong' | 'transactInCrowd';

/**
 * The same database, but the caller of the first unit of a kind gives up its wait when the unit has run, as when the server
 * does not answer. The unit ends when `rollBack` is called, which resolves after the effects of its rollback.
 */
export function withGivenUp(database: Database, kind: Kind) {
  const end = Promise.withResolvers<void>();
  const ran = Promise.withResolvers<void>();
  let first: Promise<unknown> | undefined;
  return {
    database: {
      ...database,
      [kind]: async (work: Parameters<Database[Kind]>[0], key?: string) => {
        if (first) return database[kind](work, key);
        first = database[kind](async (unit) => {
          await work(unit);
          ran.resolve();
          await end.promise;
          throw new Error('the unit is rolled back');
        }, key);
        first.catch(() => undefined);
        await ran.promise;
        throw new DomainError('DATABASE_UNAVAILABLE');
      },
    } as Database,
    async rollBack(): Promise<void> {
      end.resolve();
      await first?.catch(() => undefined);
    },
  };
}
