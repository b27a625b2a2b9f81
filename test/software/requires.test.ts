import t from 'tap';
import { startSoftware } from '../api/software-world.ts';

const NAME = 'com.example.needs';

t.test('a version that requires firmware is installed only on devices that have reported it', async (t) => {
  const { world, tenant, api, path, register, upload, versionPath } = await startSoftware(t);
  await register(NAME, '1.0.0');
  await upload(NAME, '1.0.0');
  const version = versionPath(NAME, '1.0.0');
  await api.post(`${version}/distributions`);
  const requires = { firmwareVersion: '>=9.2.0 <10' };
  t.match(await api.patch(version, { json: { requires } }), { status: 200, body: { requires } });
  t.match(await api.patch(version, { json: { description: 'x' } }), { body: { requires } }, 'it stays');
  t.match(await api.patch(version, { json: { requires: { firmwareVersion: 'new' } } }), {
    status: 400,
    body: { details: [{ loc: ['body', 'requires', 'firmwareVersion'] }] },
  });

  const [silent, old, fit] = [
    await world.activatedDevice(tenant),
    await world.activatedDevice(tenant),
    await world.activatedDevice(tenant),
  ];
  for (const [{ link }, firmwareVersion] of [
    [old, '9.1.9'],
    [fit, '9.3.0'],
  ] as const) {
    link.publish('status', { firmwareVersion });
    await link.next('puback');
  }
  const parameters = { package: NAME, version: '1.0.0' };
  const install = (device: typeof old) => api.put(`${device.path}/apps`, { json: parameters });
  t.match(await install(old), {
    status: 409,
    body: { message: 'the version requires firmware >=9.2.0 <10; the device has reported 9.1.9.' },
  });
  t.match(await install(silent), { status: 409, body: { message: /the device has reported none\.$/ } });

  await t.test('a rollout refuses the others', async (t) => {
    const json = { operation: 'installSoftware', parameters, devices: {} };
    const { rolloutId } = (await api.post(`${path}/rollouts`, { json })).body;
    await world.idle();
    const { body } = await api.get(`${path}/rollouts/${rolloutId}`);
    t.match(body, {
      counts: { refused: 2, unfinished: 1 },
      errors: [{ state: 'refused', code: 'FIRMWARE_REQUIRED', devices: 2 }],
    });
    t.match(await fit.link.command(), { operation: 'installSoftware' });
  });

  await t.test('a newer report, or a version that requires nothing, lets it be installed', async (t) => {
    old.link.publish('status', { firmwareVersion: '9.2.0' });
    await old.link.next('puback');
    t.equal((await install(old)).status, 201);
    const changed = await api.patch(version, { json: { requires: null } });
    t.equal(changed.body.requires, undefined);
    t.equal((await install(silent)).status, 201);
  });

  const registered = await api.post(`${path}/packages/${NAME}/versions`, { json: { version: '2.0.0', requires } });
  t.match(registered, { status: 201, body: { requires } });
  t.match((await api.get(`${path}/packages/${NAME}/versions`)).body.versions[0], { version: '2.0.0', requires });
});
