import { createHash } from 'node:crypto';
import t from 'tap';
import { SETTING_NAMES } from '../../src/core/applications/setting-columns.ts';
import { createTenant } from './tenant.ts';

void t.test('a new application has no settings and no key', async (t) => {
  const { applications, clock } = await createTenant(t);
  await applications.create('dev-1', { applicationId: 'app-1', name: 'Camera' });
  const { secretMark, ...application } = await applications.find('app-1');
  t.match(secretMark, /^[\w-]{16}$/);
  t.strictSame(application, {
    applicationId: 'app-1',
    developerId: 'dev-1',
    name: 'Camera',
    authenticationKey: null,
    formerAuthenticationKey: null,
    keyReplacedAt: null,
    settings: Object.fromEntries(SETTING_NAMES.map((name) => [name, null])),
    authentication: 'secret',
    certificates: [],
    createdAt: clock.now(),
    formerSecretMark: null,
    formerSecretEndsAt: null,
    deletedAt: null,
    removalId: null,
  });
});

void t.test('the secret is 32 random bytes, stored as SHA-256 only', async (t) => {
  const { applications, database } = await createTenant(t);
  const { applicationId, secret } = await applications.create('dev-1', { name: 'Camera' });
  t.equal(Buffer.from(secret, 'base64url').length, 32);
  const row = await database.read.get<Record<string, unknown>>(
    'SELECT * FROM applications WHERE application_id = ?',
    applicationId,
  );
  t.strictSame(row?.['secret_hash'], createHash('sha256').update(secret).digest());
  t.notOk(Object.values(row ?? {}).includes(secret));
});

void t.test('a client authenticates with the secret of its own application only', async (t) => {
  const { applications } = await createTenant(t);
  const one = await applications.create('dev-1', { applicationId: 'one', name: '1' });
  const two = await applications.create('dev-1', { applicationId: 'two', name: '2' });
  t.match(await applications.authenticateClient('one', one.secret), { secretMark: String, authentication: 'secret' });
  t.equal(await applications.authenticateClient('one', two.secret), undefined);
  t.equal(await applications.authenticateClient('one', ''), undefined);
  t.equal(await applications.authenticateClient('nobody', one.secret), undefined);
});

void t.test('a replaced secret ends at once', async (t) => {
  const { applications } = await createTenant(t);
  const { secret: old } = await applications.create('dev-1', { applicationId: 'one', name: '1' });
  const { secret } = await applications.replaceSecret('one');
  t.equal(await applications.authenticateClient('one', old), undefined);
  t.match(await applications.authenticateClient('one', secret), { secretMark: String });
  await t.rejects(applications.replaceSecret('nobody'), { code: 'APPLICATION_NOT_FOUND' });
});

void t.test('an application needs its developer, and an id of its own', async (t) => {
  const { applications } = await createTenant(t);
  await t.rejects(applications.create('nobody', { name: 'x' }), { code: 'DEVELOPER_NOT_FOUND' });
  await applications.create('dev-1', { applicationId: 'one', name: '1' });
  await t.rejects(applications.create('dev-1', { applicationId: 'one', name: 'again' }), {
    code: 'APPLICATION_EXISTS',
  });
});

void t.test('a deleted application keeps only its id and its last webhooks', async (t) => {
  const { applications } = await createTenant(t);
  const { secret } = await applications.create('dev-1', { applicationId: 'one', name: '1' });
  await applications.updateSettings('one', { deviceEvent: 'https://example.com/' });
  const { authenticationKey } = await applications.issueKey('one');
  await applications.remove('one');
  await t.rejects(applications.find('one'), { code: 'APPLICATION_UNREGISTERED' });
  await t.rejects(applications.issueKey('one'), { code: 'APPLICATION_UNREGISTERED' });
  await t.rejects(applications.updateSettings('one', {}), { code: 'APPLICATION_UNREGISTERED' });
  await t.rejects(applications.replaceSecret('one'), { code: 'APPLICATION_NOT_FOUND' });
  await t.rejects(applications.remove('one'), { code: 'APPLICATION_NOT_FOUND' });
  await t.rejects(applications.create('dev-1', { applicationId: 'one', name: '1' }), { code: 'APPLICATION_EXISTS' });
  t.equal(await applications.authenticateClient('one', secret), undefined);
  t.equal((await applications.list('dev-1', { offset: 0, limit: 10 })).total, 0);
  t.strictSame(await applications.endpointOf('one', 'deviceEvent'), {
    url: 'https://example.com/',
    owner: 'dev-1',
    keys: [authenticationKey],
    leaves: false,
  });
});

void t.test('an application in use is not deleted', async (t) => {
  const { applications } = await createTenant(t, { isInUse: async (_unit, id) => id === 'busy' });
  for (const applicationId of ['busy', 'free']) await applications.create('dev-1', { applicationId, name: 'x' });
  await t.rejects(applications.remove('busy'), { code: 'APPLICATION_IN_USE' });
  await applications.remove('free');
  await applications.find('busy');
});

void t.test('lists are pages of one developer’s live applications', async (t) => {
  const { applications, developers } = await createTenant(t);
  await developers.create({ developerId: 'dev-2', name: 'Other' });
  await applications.create('dev-2', { applicationId: 'foreign', name: 'x' });
  for (const applicationId of ['c', 'a', 'b']) await applications.create('dev-1', { applicationId, name: 'x' });
  const page = await applications.list('dev-1', { offset: 1, limit: 5 });
  t.strictSame([page.applications.map((each) => each.applicationId), page.total], [['b', 'c'], 3]);
  await t.rejects(applications.list('nobody', { offset: 0, limit: 5 }), { code: 'DEVELOPER_NOT_FOUND' });
});

void t.test('an update changes the given settings, and null removes one', async (t) => {
  const { applications } = await createTenant(t);
  await applications.create('dev-1', { applicationId: 'one', name: '1' });
  const all = Object.fromEntries(SETTING_NAMES.map((name) => [name, `https://example.com/${name}`]));
  await applications.updateSettings('one', all);
  t.strictSame((await applications.find('one')).settings, all);
  await applications.updateSettings('one', { callEvent: null, deviceEvent: 'https://example.org/' });
  t.strictSame((await applications.find('one')).settings, {
    ...all,
    callEvent: null,
    deviceEvent: 'https://example.org/',
  });
  for (const name of SETTING_NAMES) {
    t.equal((await applications.endpointOf('one', name)).url, (await applications.find('one')).settings[name]);
  }
  t.strictSame(await applications.endpointOf('nobody', 'callEvent'), { url: null, owner: '', keys: [], leaves: true });
});

void t.test('every faulty URL is named, and then nothing is changed', async (t) => {
  const { applications } = await createTenant(t);
  await applications.create('dev-1', { applicationId: 'one', name: '1' });
  const patch = {
    deviceEvent: 'https://example.com/',
    callEvent: 'example.com/hook',
    fileUploadEvent: 'http://example.com/',
  };
  await t.rejects(applications.updateSettings('one', patch), {
    code: 'REQUEST_INVALID',
    details: [
      { loc: ['body', 'callEvent'], type: 'url_parsing' },
      { loc: ['body', 'fileUploadEvent'], type: 'url_scheme' },
    ],
  });
  t.equal((await applications.find('one')).settings.deviceEvent, null);
});

void t.test('a key has the form of Standard Webhooks, and a new one takes the place of the old', async (t) => {
  const { applications, clock } = await createTenant(t);
  await applications.create('dev-1', { applicationId: 'one', name: '1' });
  const { authenticationKey: first } = await applications.issueKey('one');
  t.equal(Buffer.from(first.replace(/^whsec_/, ''), 'base64').length, 32);
  t.equal((await applications.find('one')).authenticationKey, first);
  const { authenticationKey: second } = await applications.issueKey('one');
  t.not(second, first);
  t.equal((await applications.find('one')).authenticationKey, second);
  t.strictSame((await applications.endpointOf('one', 'deviceEvent')).keys, [second, first], 'for a day both sign');
  clock.advance(24 * 3_600_000 - 1);
  const { authenticationKey: third } = await applications.issueKey('one');
  t.strictSame((await applications.endpointOf('one', 'deviceEvent')).keys, [third, second], 'never more than two');
  clock.advance(24 * 3_600_000);
  t.strictSame((await applications.endpointOf('one', 'deviceEvent')).keys, [third]);
});
