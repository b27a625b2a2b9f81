import { Client } from 'pg';
import t from 'tap';
import { statementOf } from '../../../src/database/postgres/statements.ts';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';
import { textsOfRepositories } from './texts.ts';

t.test('PostgreSQL takes every text of the service as it is', { skip: NO_POSTGRES }, async (t) => {
  const client = new Client({ connectionString: await createDatabase(t) });
  await client.connect();
  t.teardown(() => client.end());
  const faults: string[] = [];
  for (const [name, texts] of await textsOfRepositories()) {
    if (texts.size === 0) faults.push(`${name}: no text was found`);
    for (const text of texts) {
      await client.query(`PREPARE one AS ${statementOf(text).text}`).then(
        () => client.query('DEALLOCATE one'),
        (cause: Error) => faults.push(`${name}: ${cause.message}: ${text}`),
      );
    }
  }
  t.strictSame(faults, []);
});
