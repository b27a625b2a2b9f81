import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Database, Pace } from '../../src/platform/database/sql.ts';

/**
 * The same database, but the caller of the first unit of a pace gives up its wait when the unit has run, as when the server
 * does not answer. The unit ends when `rollBack` is called, which resolves after the effects of its rollback.
 */
export function withGivenUp(database: Database, pace: Pace) {
  const end = Promise.withResolvers<void>();
  const ran = Promise.withResolvers<void>();
  let first: Promise<unknown> | undefined;
  const givenUp: Database = {
    ...database,
    async transact(work, options) {
      if (first || options?.pace !== pace) return database.transact(work, options);
      first = database.transact(async (unit) => {
        await work(unit);
        ran.resolve();
        await end.promise;
        throw new Error('the unit is rolled back');
      }, options);
      first.catch(() => undefined);
      await ran.promise;
      throw new DomainError('DATABASE_UNAVAILABLE');
    },
  };
  return {
    database: givenUp,
    async rollBack(): Promise<void> {
      end.resolve();
      await first?.catch(() => undefined);
    },
  };
}
