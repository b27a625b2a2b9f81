import type { Test } from 'tap';
import { createApplications } from '../../src/core/applications/applications.ts';
import { createDevelopers } from '../../src/core/applications/developers.ts';
import { createSettingUrlRule } from '../../src/core/webhooks/http/webhook-url.ts';
import type { Database, UnitOfWork } from '../../src/platform/database/sql.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { writeNewDatabase } from '../new-database.ts';

/** A database file in the test's folder, with a clock that stands still; closed when the test ends. */
export function openTestDatabase(t: Test, clock = createFakeClock()): { database: Database; clock: typeof clock } {
  const folder = t.testdir();
  writeNewDatabase(folder);
  const database = openSqlite({ folder, nowMicros: clock.now() });
  t.teardown(() => database.close());
  return { database, clock };
}

interface Choices {
  allowHttpWebhooks?: boolean;
  isInUse?(unit: UnitOfWork, applicationId: string): Promise<boolean>;
}

/** Developers and applications over a fresh database, with the developer `dev-1`. */
export async function createTenant(t: Test, { allowHttpWebhooks = false, isInUse = async () => false }: Choices = {}) {
  const { database, clock } = openTestDatabase(t);
  const ids = randomIds;
  const urlFault = createSettingUrlRule({ allowHttp: allowHttpWebhooks, allowPrivate: true });
  const nothing = async (): Promise<void> => undefined;
  const developers = createDevelopers({
    database,
    clock,
    ids,
    isInUse: async () => false,
    forgetUsage: nothing,
    forgetKeys: nothing,
  });
  const log = createLog({ level: 'silent' });
  const left = { endWork: nothing, forgetReceivers: nothing };
  const applications = createApplications({ database, clock, ids, log, urlFault, isInUse, ...left });
  await developers.create({ developerId: 'dev-1', name: 'Acme' });
  return { database, clock, ids, developers, applications };
}
