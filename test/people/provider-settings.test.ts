import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readConfig } from '../../src/config.ts';

const GOOD = {
  providerId: 'company',
  name: 'Company',
  issuer: 'https://login.example.com',
  clientId: 'lapel',
  clientSecret: 'a secret',
  roleClaim: 'groups',
  roles: { admins: 'owner' },
};
const read = (value: unknown) =>
  readConfig({ env: { LAPEL_SIGN_IN_PROVIDERS: typeof value === 'string' ? value : JSON.stringify(value) } });

t.test('the settings of a provider name their faulty field', async (t) => {
  const faults: [unknown, RegExp][] = [
    ['x', /must be JSON/],
    [GOOD, /must be JSON: an array/],
    [[null], /\[0\] must be an object/],
    [[{ ...GOOD, secret: 'x' }], /\[0\]\.secret is not known/],
    [[{ ...GOOD, providerId: 'Com pany' }], /\[0\]\.providerId must have/],
    [[{ ...GOOD, name: '' }], /\[0\]\.name must be a text/],
    [[{ ...GOOD, issuer: 'http://login.example.com' }], /\[0\]\.issuer must be an https URL/],
    [[{ ...GOOD, issuer: 'https://login.example.com?x' }], /\[0\]\.issuer/],
    [[{ ...GOOD, clientSecretFile: '/x' }], /\[0\]\.clientSecretFile cannot be combined/],
    [[{ ...GOOD, clientSecret: undefined, clientSecretFile: '/no/file' }], /\/no\/file cannot be read/],
    [[{ ...GOOD, scope: 'profile' }], /\[0\]\.scope must contain openid/],
    [[{ ...GOOD, roles: {} }], /\[0\]\.roles must be an object/],
    [[{ ...GOOD, roles: { admins: 'admin' } }], /\[0\]\.roles: the role of "admins" must be one of owner/],
    [[GOOD, { ...GOOD, providerId: 'other' }], /\[1\]\.issuer is that of an earlier provider/],
    [[GOOD, { ...GOOD, issuer: 'https://other.example' }], /\[1\]\.providerId is that/],
    [Array.from({ length: 11 }, () => GOOD), /at most 10 providers/],
  ];
  for (const [value, problem] of faults)
    t.throws(() => read(value), { code: 'SETTING_INVALID', message: problem }, String(problem));
});

t.test('providers and their secrets can be in files, and no secret is shown', async (t) => {
  const dir = t.testdir({ secret: 'from a file\n' });
  const { clientSecret: _, ...others } = GOOD;
  const file = join(dir, 'providers.json');
  writeFileSync(file, JSON.stringify([{ ...others, clientSecretFile: join(dir, 'secret') }]));
  const { admin, given } = readConfig({ env: { LAPEL_SIGN_IN_PROVIDERS_FILE: file } });
  t.match(admin.providers, [{ scope: 'openid profile' }]);
  t.equal(admin.providers[0]?.clientSecret(), 'from a file');
  t.notMatch(JSON.stringify(given), 'from a file');
  t.equal(read([{ ...others, issuer: 'http://127.0.0.1:9' }]).admin.providers[0]?.clientSecret(), null);
});
