import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import t, { type Test } from 'tap';
import { statementOf } from '../../../src/platform/database/postgres/statements.ts';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';
import { textsOfRepositories } from './texts.ts';

async function faultsOf(t: Test, texts: Iterable<string>): Promise<string[]> {
  const client = new Client({ connectionString: await createDatabase(t) });
  await client.connect();
  const faults: string[] = [];
  for (const text of texts) {
    await client.query(`PREPARE one AS ${statementOf(text).text}`).then(
      () => client.query('DEALLOCATE one'),
      (cause: Error) => faults.push(`${cause.message}: ${text}`),
    );
  }
  await client.end();
  return faults;
}

t.test('PostgreSQL accepts every text of the service unchanged', { skip: NO_POSTGRES }, async (t) => {
  const found = await textsOfRepositories();
  for (const [name, texts] of found) t.ok(texts.size > 0, `${name} has a text`);
  t.strictSame(await faultsOf(t, new Set([...found.values()].flatMap((texts) => [...texts]))), []);
});

t.test('nodes of the former release work with the schema of this one', { skip: NO_POSTGRES }, async (t) => {
  const file = join(import.meta.dirname, 'former-texts.json');
  const { texts } = JSON.parse(readFileSync(file, 'utf8')) as { texts: string[] };
  t.ok(texts.length > 100);
  t.strictSame(await faultsOf(t, texts), []);
});
