import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { holdsSecret, optionName, SETTINGS, type Setting } from '@lapel/schemas/contracts/settings';
import t from 'tap';
import { readConfig, secretFilesOf } from '../../src/config.ts';
import { createLog } from '../../src/runtime/log.ts';
import { readableByOthers } from '../../src/runtime/machine-check.ts';
import { startWorld } from '../world.ts';

/** A good value of each setting that is a secret, or holds one. A new one needs a row. */
const VALUES: Readonly<Record<string, string>> = {
  LAPEL_ADMIN_TOKEN: 'a token of administrators for this test',
  LAPEL_DATABASE_URL: 'postgres://lapel:a-password@db.example/lapel',
  LAPEL_ALARM_URL: 'https://hooks.example/services/a-secret',
  LAPEL_ALARM_KEY: `whsec_${Buffer.alloc(32, 1).toString('base64')}`,
  LAPEL_SIGN_IN_PROVIDERS: JSON.stringify([
    {
      providerId: 'company',
      name: 'Company',
      issuer: 'https://sso.example',
      clientId: 'lapel',
      clientSecret: 'a-password',
      roleClaim: 'groups',
      roles: { 'lapel-owners': 'owner' },
    },
  ]),
};
const SECRETS = (SETTINGS as readonly Setting[]).filter(holdsSecret);
const settingOf = (config: ReturnType<typeof readConfig>, name: string): string | null | undefined =>
  config.given.find((one) => one.name === name)?.value;

t.test(
  'each setting that is a secret comes from a file or a credential, and never from the command line',
  async (t) => {
    t.same(SECRETS.map(({ name }) => name).sort(), Object.keys(VALUES).sort());
    const folder = t.testdir();
    for (const [name, value] of Object.entries(VALUES)) {
      const credentials = join(folder, name);
      mkdirSync(credentials);
      const file = join(credentials, `lapel.${optionName(name)}`);
      const option = { [optionName(name)]: value };
      t.throws(() => readConfig({ env: {}, options: option }), {
        code: 'SETTING_INVALID',
        message: new RegExp(`^${name}: .*cannot be an option.*${name}_FILE`),
      });
      const env = { CREDENTIALS_DIRECTORY: credentials };
      t.equal(settingOf(readConfig({ env }), name), null, 'a credential that is not there is none');
      writeFileSync(file, `${value}\n`, { mode: 0o600 });
      const other = value.replace('password', 'passphrase').replace('this test', 'others');
      t.equal(settingOf(readConfig({ env: { [`${name}_FILE`]: file } }), name), value);
      t.equal(settingOf(readConfig({ env }), name), value);
      t.equal(settingOf(readConfig({ env: { ...env, [name]: other } }), name), other, 'the environment goes first');
      t.equal(settingOf(readConfig({ env: { ...env, [`${name}_FILE`]: file } }), name), value);
    }
    for (const [name, value] of Object.entries(VALUES))
      t.throws(() => readConfig({ env: { [name]: value, [`${name}_FILE`]: join(folder, 'x') } }), /cannot be combined/);
  },
);

t.test('a database URL without a password may be an option', async (t) => {
  const options = { 'database-url': 'postgres://lapel@db.example/lapel' };
  t.equal(readConfig({ env: {}, options }).databaseUrl, options['database-url']);
  for (const url of ['postgres://lapel:x@a,b/lapel', 'postgres://lapel@db.example/lapel?password=x'])
    t.throws(
      () => readConfig({ env: {}, options: { 'database-url': url } }),
      /with a password cannot be an option/,
      url,
    );
});

t.test('the encryption keys are a credential as well', async (t) => {
  const folder = t.testdir({ 'lapel.encryption-key': `a ${Buffer.alloc(32).toString('base64')}\n` });
  const env = { CREDENTIALS_DIRECTORY: folder };
  t.same(readConfig({ env }).encryption, { file: join(folder, 'lapel.encryption-key') });
  t.same(readConfig({ env: { ...env, LAPEL_ENCRYPTION_KEY_COMMAND: 'true' } }).encryption, { command: 'true' });
});

t.test('a file with a secret that others can read is named in the log', async (t) => {
  const folder = t.testdir({ token: `${VALUES['LAPEL_ADMIN_TOKEN']}\n`, data: {} });
  const file = join(folder, 'token');
  const env = { LAPEL_ADMIN_TOKEN_FILE: file };
  chmodSync(file, 0o640);
  t.same(readableByOthers(secretFilesOf(readConfig({ env }))), [], 'the group may be that of the service');
  chmodSync(file, 0o644);
  const lines: string[] = [];
  const destination = new Writable({
    write(line, _, done) {
      lines.push(String(line));
      done();
    },
  });
  const log = createLog({ level: 'warn', destination });
  await startWorld(t, { dataDir: join(folder, 'data'), database: 'sqlite', env, log });
  t.ok(lines.some((line) => line.includes(`${file} has the mode 0644: other users can read it`)));
});
