import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { openSecretFile } from '@lapel/cli/files/plan/secret-file';
import t from 'tap';

t.test('a secret that could not be written is not asked for', async (t) => {
  const folder = t.testdir();
  const configuration = join(folder, 'a.yaml');
  const neverAsk = (): Promise<string> => Promise.reject(new Error('the secret was made, and is lost'));
  symlinkSync(join(folder, 'nowhere'), join(folder, 'link'));
  const link = openSecretFile('link', configuration);
  t.equal(link.exists, true, 'so the plan refuses it');
  await t.rejects(link.receive(neverAsk), /link exists; it is not overwritten/);

  const long = openSecretFile('n'.repeat(230), configuration);
  await t.rejects(long.receive(neverAsk), /cannot write the secret to .*ENAMETOOLONG/);
  t.same(
    readdirSync(folder).filter((name) => name.startsWith('n') && name !== `${'n'.repeat(230)}.pending`),
    [],
  );

  await openSecretFile('secret', configuration).receive(() => Promise.resolve('text'));
  t.equal(readFileSync(join(folder, 'secret'), 'utf8'), 'text\n');
});
