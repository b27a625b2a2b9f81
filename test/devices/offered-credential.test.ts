import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';

t.test('a device changes its credential without a gap', async (t) => {
  const world = await startWorld(t);
  const admin = world.admin();
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant, { clean: false });
  const path = `/admin/v1/devices/${device.deviceId}`;
  const offer = async (json: object = {}): Promise<string> => {
    const answer = await admin.post(`${path}/credential`, { json: { keepsFormer: true, ...json } });
    t.equal(answer.status, 201);
    return answer.body.credential;
  };
  const certificates = async () =>
    (await (await world.raw()).all<{ certificate: string | null }>('SELECT certificate FROM devices')).map(
      ({ certificate }) => certificate,
    );
  const login = async (credential: string): Promise<number | undefined> => {
    const link = await world.open({ deviceId: device.deviceId, credential });
    const { returnCode } = await link.login();
    await link.drop();
    return returnCode;
  };

  await t.test('the offer ends nothing: not the connection, and not the former credential', async (t) => {
    const offered = await offer();
    t.match((await admin.get(path)).body, { credentialOfferedAt: /^2026/ });
    const id = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    t.equal((await device.link.command()).transactionId, id, 'it goes on over the connection');
    t.equal(await login(device.credential), 0);
    t.equal(await login(device.credential), 0, 'as often as it likes');
    t.same(await certificates(), [null], 'client certificates are as good as before');
    const again = await offer();
    t.equal(await login(offered), 4, 'another offer takes the place of the first');
    t.equal(await login(again), 0);
    t.equal(await login(device.credential), 4, 'the former one ends with the first login');
    t.same(await certificates(), [''], 'and client certificates end with it');
    t.equal(await login(again), 0);
    t.match((await admin.get(path)).body, { credentialOfferedAt: null });
    device.credential = again;
  });

  await t.test('a replacement ends the offer as well', async (t) => {
    const offered = await offer({ credential: 'a credential that the operator has chosen' });
    const replaced = (await admin.post(`${path}/credential`)).body.credential;
    t.equal(await login(offered), 4);
    t.equal(await login(device.credential), 4);
    t.equal(await login(replaced), 0);
  });

  await t.test('what cannot be offered is refused, and a blocked device stays out', async (t) => {
    const json = { keepsFormer: true, certificateFingerprint: 'a'.repeat(64) };
    t.match(await admin.post(`${path}/credential`, { json }), {
      status: 400,
      body: { details: [{ loc: ['body', 'certificateFingerprint'] }] },
    });
    const nobody = '/admin/v1/devices/490154203237518/credential';
    t.match(await admin.post(nobody, { json: { keepsFormer: true } }), { status: 404 });
    const offered = await offer();
    await admin.patch(path, { json: { blocked: true } });
    t.equal(await login(offered), 5);
    t.match((await admin.get(path)).body, { credentialOfferedAt: /^2026/ }, 'a refused login takes nothing');
  });
});
