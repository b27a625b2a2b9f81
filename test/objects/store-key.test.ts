import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';

const WEEK_MS = 7 * 24 * 3_600_000;

t.test('the key of the embedded store changes without a restart', async (t) => {
  const dataDir = t.testdir();
  const keys = join(dataDir, 'keys');
  const line = (id: string): string => `${id} ${randomBytes(32).toString('base64')}\n`;
  const first = line('first');
  writeFileSync(keys, first);
  const world = await startWorld(t, { dataDir, database: 'sqlite', env: { LAPEL_ENCRYPTION_KEY_FILE: keys } });
  const admin = world.admin();
  const tenant = await world.createTenant();
  const renew = async (json: object = {}): Promise<void> =>
    void t.equal((await admin.post('/admin/v1/object-store-key', { json })).status, 204);
  let versions = 0;
  const uploadUrl = async (): Promise<string> => {
    versions += 1;
    const json = { package: 'com.example.camera', version: `1.0.${versions}`, fileSize: 4 };
    const { body, status } = await tenant.api.post(`${tenant.path}/apps`, { json });
    t.equal(status, 200, JSON.stringify(body));
    return body.urlList[0].uploadUrl;
  };
  const put = async (url: string): Promise<number> => (await fetch(url, { method: 'PUT', body: 'file' })).status;
  const file = (): string => readFileSync(join(dataDir, 'object-store-key'), 'utf8');

  await t.test('URLs of the former key stay valid until they expire, and new ones have the new key', async (t) => {
    const former = await uploadUrl();
    await renew();
    const fresh = await uploadUrl();
    t.equal(await put(former), 200);
    t.equal(await put(fresh), 200);
    const signature = '0'.repeat(64);
    t.equal(await put(fresh.replace(/X-Amz-Signature=[0-9a-f]+/, `X-Amz-Signature=${signature}`)), 403);
  });

  await t.test(
    'URLs stay valid until they expire: a ninth former key is refused until the first has ended',
    async (t) => {
      world.clock.leap(WEEK_MS + 1_000);
      await tenant.renew();
      const former = await uploadUrl();
      const until = new Date(world.clock.now() / 1_000 + WEEK_MS).toISOString().replace('Z', '\\d{3}Z');
      for (let more = 0; more < 8; more += 1) await renew();
      const before = file();
      t.match(await admin.post('/admin/v1/object-store-key'), {
        status: 409,
        body: { message: new RegExp(`^URLs of 8 former keys are valid, those of the oldest until ${until}; make`) },
        headers: { 'lapel-error-code': 'TOO_MANY_STORE_KEYS' },
      });
      t.equal(file(), before);
      t.equal(await put(former), 200);
      world.clock.leap(WEEK_MS);
      await renew();
      await tenant.renew();
      t.equal(await put(await uploadUrl()), 200);
    },
  );

  await t.test('at once, URLs of before end', async (t) => {
    const former = await uploadUrl();
    await renew({ atOnce: true });
    t.equal(await put(former), 403);
    t.equal(await put(await uploadUrl()), 200);
  });

  await t.test('the file is encrypted, also after another encryption key, and after a restart', async (t) => {
    await renew();
    t.match(file(), /^enc:v1:first:[\w+/=]+\n$/);
    writeFileSync(keys, `${line('second')}${first}`);
    t.equal((await admin.post('/admin/v1/encryption/rotation')).status, 202);
    await until(async () => {
      world.clock.advance(1_000);
      return (await admin.get('/admin/v1/encryption')).body.rotation.state === 'ended';
    });
    t.match(file(), /^enc:v1:second:/);
    const former = await uploadUrl();
    await world.restart(() => writeFileSync(keys, readFileSync(keys, 'utf8').split('\n', 1)[0] ?? ''));
    await tenant.renew();
    t.equal(await put(former.replace(/^http:\/\/[^/]+/, world.service.addresses.objects)), 403, 'the host is signed');
    t.equal(await put(await uploadUrl()), 200);
    world.clock.leap(WEEK_MS + 1_000);
    await world.restart();
    await tenant.renew();
    t.equal(await put(await uploadUrl()), 200);
  });
});

t.test('an S3 store has keys of its own', async (t) => {
  const world = await startWorld(t, { database: 'sqlite', env: { LAPEL_S3_ENDPOINT: 'http://127.0.0.1:9' } });
  t.match(await world.admin().post('/admin/v1/object-store-key'), {
    status: 409,
    headers: { 'lapel-error-code': 'OBJECT_STORE_FOREIGN' },
  });
});
