import t from 'tap';
import { createSigningKeys } from '../../src/core/applications/signing-keys.ts';
import { openPostgres } from '../../src/platform/database/postgres/open-postgres.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';
import { createDatabase, NO_POSTGRES } from '../postgres/databases.ts';

t.test('nodes that start for the first time at once make one signing key', { skip: NO_POSTGRES }, async (t) => {
  const url = await createDatabase(t);
  const log = createLog({ level: 'silent' });
  const opened = await Promise.all(Array.from({ length: 3 }, () => openPostgres({ url, nowMicros: 0 })));
  t.teardown(() => Promise.all(opened.map((database) => database.close())));
  const trust = { isHeld: () => false, whenBelieved: () => undefined };
  const nodes = opened.map((database) =>
    createSigningKeys({ database, clock: createFakeClock(), ids: randomIds, log, trust }),
  );
  t.teardown(() => Promise.all(nodes.map((keys) => keys[Symbol.asyncDispose]())));
  await Promise.all(nodes.map((keys) => keys.start()));
  t.equal(new Set(nodes.map((keys) => keys.current().keyId)).size, 1);
  for (const keys of nodes) t.equal((await keys.jwks()).keys.length, 1);
});
