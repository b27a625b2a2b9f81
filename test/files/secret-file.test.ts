import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSecretFile } from '@lapel/cli/files/plan/secret-file';
import { Failure } from '@lapel/cli/show/failure';
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

t.test('a refused request leaves no mark of a lost secret, and one without an answer does', async (t) => {
  const folder = t.testdir();
  const file = () => openSecretFile('secret', join(folder, 'a.yaml'));
  const refusal = { status: 409, code: null, reason: 'too many', details: [], requestId: null };
  const refuse = () => Promise.reject(new Failure('refused', { refusal }));
  await t.rejects(file().receive(refuse), /refused/);
  t.equal(file().isLost, false, 'nothing was made');
  await t.rejects(
    file().receive(() => Promise.reject(new Failure('cut'))),
    /cut/,
  );
  t.equal(file().isLost, true);
  await t.rejects(file().receive(refuse), /refused/);
  t.equal(file().isLost, true, 'the secret of before is lost all the same');
});

t.test('what a killed apply has left beside the file goes away with the next one', async (t) => {
  const folder = t.testdir();
  writeFileSync(join(folder, 'secret.4cb8cc0d-1683-4eb3-95a6-0a0ee158b93c'), '');
  writeFileSync(join(folder, 'secret.mine'), '');
  await openSecretFile('secret', join(folder, 'a.yaml')).receive(() => Promise.resolve('text'));
  t.same(readdirSync(folder).sort(), ['secret', 'secret.mine']);
});
