import t from 'tap';
import { pagesOf } from '../pages.ts';
import { transactionIdOf, WIFI } from '../world.ts';
import { CAMERA, startSoftware } from './software-world.ts';

t.test('an application’s view of its devices, transactions and software', async (t) => {
  const { world, tenant, other, api, path, register, upload, versionPath } = await startSoftware(t);
  const own = await world.activatedDevice(tenant);
  const foreign = await world.activatedDevice(other);
  const idsOf = async (query: string): Promise<number[]> => {
    const pages = await pagesOf<{ transactionId: number }>(api, `${path}/transactions?${query}`, 'transactions');
    return pages.flat().map(({ transactionId }) => transactionId);
  };
  const wifi = transactionIdOf(await api.put(`${own.path}/settings/wifi`, { json: WIFI }));
  const theirs = transactionIdOf(await other.api.put(`${foreign.path}/settings/wifi`, { json: WIFI }));
  await world.idle();

  t.test('an application sees its own transactions, as administration does, and no others', async (t) => {
    for (const [query, wanted] of [
      ['', [wifi, 1]],
      ['limit=1', [wifi, 1]],
      ['unfinished=true', [wifi]],
      ['operation=activate', [1]],
      [`deviceId=${own.deviceId}`, [wifi, 1]],
      [`deviceId=${foreign.deviceId}`, []],
      [`deviceId=${foreign.deviceId}&unfinished=true`, []],
      ['status=queued', [wifi]],
      ['olderThan=1h', []],
      ['warning=true', []],
    ] as const) {
      t.same(await idsOf(query), wanted, query);
    }
    t.match(await api.get(`${path}/transactions?applicationId=other-app`), { status: 400 });
    const { body } = await api.get(`${path}/transactions/${wifi}`);
    t.same(body.parameters.networks, [{ ssid: 'office', password: '••••', security: 'WPA2' }]);
    t.same(body, (await world.admin().get(`/admin/v1/transactions/${wifi}`)).body);
    t.match(await api.get(`${path}/transactions/${theirs}`), {
      status: 404,
      body: { reason: 'transaction not found.' },
    });
  });

  t.test('an application cannot see the work of other applications on a device', async (t) => {
    const raw = await world.raw();
    await raw.exec(`INSERT INTO transactions (device_id, application_id, operation, status, due, attempts, created_at,
        updated_at, completed_at)
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2100)
      SELECT '${foreign.deviceId}', '${other.applicationId}', 'setLanguage', 'cancelled', 0, 0, 1, 1, 1 FROM n`);
    const answer = await api.get(`${path}/transactions?deviceId=${foreign.deviceId}`);
    t.same(answer.body, { transactions: [] });
    t.equal(answer.headers['link'], undefined);
    const theirPage = await other.api.get(`${other.path}/transactions?deviceId=${foreign.deviceId}&limit=1`);
    t.match(theirPage.headers['link'], 'rel="next"');
  });

  t.test('an application sees its own devices, and no others', async (t) => {
    const { body } = await api.get(`${path}/devices`);
    const all = (await world.admin().get('/admin/v1/devices')).body.devices;
    t.same(
      body.devices,
      all.filter(({ deviceId }: { deviceId: string }) => deviceId === own.deviceId),
    );
    t.same((await api.get(`${path}/devices?connected=true`)).body, body);
    t.same((await api.get(`${path}/devices?prefix=${foreign.deviceId}`)).body.devices, []);
    t.same((await api.get(`${path}/devices?connected=true&prefix=${foreign.deviceId}`)).body.devices, []);
    t.match(await api.get(`${path}/devices?developerId=other`), { status: 400 });
  });

  t.test('an application sees which of its devices have a version of its packages', async (t) => {
    await register(CAMERA, '1.0.0');
    await upload(CAMERA, '1.0.0');
    await api.post(`${versionPath(CAMERA, '1.0.0')}/distributions`);
    for (const link of [own.link, foreign.link]) {
      link.publish('status', { software: [{ package: CAMERA, version: '1.0.0', versionCode: 1 }] });
      await link.next('puback');
    }
    const { body } = await api.get(`${versionPath(CAMERA, '1.0.0')}/installations`);
    t.match(body, { installed: 1, waiting: 0, failed: 0, errors: [], devices: [{ deviceId: own.deviceId }] });
    t.equal(body.devices.length, 1);
    const everybody = `/admin/v1/packages/${CAMERA}/versions/1.0.0/installations`;
    t.match((await world.admin().get(everybody)).body, { installed: 2 });
    t.match(await other.api.get(`${other.path}/packages/${CAMERA}/versions/1.0.0/installations`), {
      status: 404,
      body: { reason: 'package not found.' },
    });
    t.match(await api.get(`${versionPath(CAMERA, '9.0.0')}/installations`), { status: 404 });
  });
});
