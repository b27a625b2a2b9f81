import t from 'tap';
import { deviceIdOf, startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('op 5 takes no body for {}, and makes a clientId', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  const { deviceId } = await world.registerDevice();
  t.equal((await api.post(`${path}/devices/${deviceId}`)).status, 201);
});

t.test('op 5 names the faults of its body', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  const { deviceId } = await world.registerDevice();
  t.match(await api.post(`${path}/devices/${deviceId}`, { json: { clientId: '', x: 1 } }), {
    status: 400,
    body: { details: [{ loc: ['body', 'x'] }, { loc: ['body', 'clientId'], type: 'string_too_short' }] },
  });
});

t.test('op 5 is refused without contract, without key, without deviceEvent, and for a foreign device', async (t) => {
  const world = await startWorld(t);
  const none = await world.createTenant('none', { deviceLimit: null });
  const bare = await world.createTenant('bare', { key: false });
  const deaf = await world.createTenant('deaf', { deviceEvent: false });
  const idOf = async (developerId: string) => (await world.registerDevice(developerId)).deviceId;
  const message = 'not contracted or activation limit exceeded.';
  t.match(await none.api.post(`${none.path}/devices/${await idOf('none')}`), { status: 403, body: { message } });
  t.match(await bare.api.post(`${bare.path}/devices/${await idOf('bare')}`), {
    status: 403,
    body: { message: 'authenticationKey is not issued.' },
  });
  t.match(await deaf.api.post(`${deaf.path}/devices/${await idOf('deaf')}`), {
    status: 404,
    body: { message: 'system notification destination is not configured.' },
  });
  const foreign = { status: 403, body: { message: 'device information unavailable.' } };
  t.match(await deaf.api.get(`${deaf.path}/devices/${await idOf('none')}`), foreign);
  t.match(await deaf.api.get(`${deaf.path}/devices/${deviceIdOf(999)}`), foreign, 'unknown');
});

t.test('ops 10 and 11 name the faults of every entry', async (t) => {
  const world = await startWorld(t);
  const { api, path } = await world.createTenant();
  const own = `${path}/devices/${(await world.registerDevice()).deviceId}/settings`;
  const faults = async (kind: string, json: unknown): Promise<string[]> => {
    const answer = await api.put(`${own}/${kind}`, { json });
    t.equal(answer.status, 400);
    return answer.body.details
      .map(({ loc, type }: { loc: string[]; type: string }) => `${loc.join('.')} ${type}`)
      .sort();
  };
  t.same(
    await faults('apn', [
      { name: 'a', apn: 'b' },
      { name: 1, mcc: '1', authType: '3', extra: true },
    ]),
    [
      'body.1.apn missing',
      'body.1.authType int_type',
      'body.1.extra extra_forbidden',
      'body.1.mcc string_pattern_mismatch',
      'body.1.name string_type',
    ],
  );
  t.same(
    await faults('wifi', [
      { ssid: 'x', security: 'WPA2' },
      { ssid: '', security: 'NONE' },
    ]),
    ['body.0.password missing', 'body.1.security enum', 'body.1.ssid string_too_short'],
  );
  t.same(await faults('wifi', {}), ['body list_type']);
  t.same(
    await faults(
      'apn',
      Array.from({ length: 33 }, () => ({ name: 'a', apn: 'b' })),
    ),
    ['body less_than_equal'],
  );
});

t.test('ops 10 and 11 answer a transaction for an activated device', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const apn = await tenant.api.put(`${device.path}/settings/apn`, { json: [{ name: 'a', apn: 'b', mcc: '440' }] });
  t.match((await device.link.command()).parameters, { apns: [{ name: 'a', apn: 'b', mcc: '440' }] });
  const wifi = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  t.match((await device.link.command()).parameters, { networks: WIFI });
  t.ok(transactionIdOf(wifi) > transactionIdOf(apn));
});
