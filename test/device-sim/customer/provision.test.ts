import { provision } from '@lapel/device-sim/customer/provision';
import t from 'tap';
import { startWorld } from '../../world.ts';

t.test('the resources of a run', async (t) => {
  const world = await startWorld(t);
  const { admin: adminUrl } = world.service.addresses;
  const at = { adminUrl, token: world.service.adminToken };
  const admin = world.admin();
  const names = { developerId: 'fleet', run: 'smoke', seed: 3, places: [...Array(40).keys()] };
  const first = await provision({ ...at, ...names, model: (place) => `Camera ${place % 2}` });

  t.test('devices are registered for a developer with a contract, and carry the name of the run', async (t) => {
    t.match((await admin.get('/admin/v1/developers/fleet')).body, { deviceLimit: 1_000_000 });
    t.equal(new Set(first.accounts.map(({ deviceId }) => deviceId)).size, 40);
    const { body } = await admin.get(`/admin/v1/devices/${first.accounts[1]?.deviceId}`);
    t.match(body, {
      developerId: 'fleet',
      hardwareProperties: { model: { name: 'Camera 1', description: /of the run smoke$/ } },
    });
    t.ok(await world.tokenOf(first.application.applicationId, first.application.secret));
  });

  t.test('a second run of the name finds its devices and its application, with new secrets', async (t) => {
    const second = await provision({ ...at, ...names });
    t.strictSame(
      second.accounts.map(({ deviceId }) => deviceId),
      first.accounts.map(({ deviceId }) => deviceId),
    );
    t.equal(second.application.applicationId, first.application.applicationId);
    t.not(second.application.secret, first.application.secret);
    const device = await world.open(second.accounts[0]!);
    t.equal((await device.login()).returnCode, 0, 'the new credential is good');
    const former = await world.open(first.accounts[1]!);
    t.equal((await former.login()).returnCode, 4, 'the former one is not');
  });

  t.test('each part of a run has its devices and its application', async (t) => {
    const part = await provision({ ...at, ...names, places: [20, 22, 24], part: ', part 2 of 2' });
    t.equal(part.accounts[0]?.deviceId, first.accounts[20]?.deviceId);
    t.not(part.application.applicationId, first.application.applicationId);
  });

  t.test('another developer has a device, which is not one of the run', async (t) => {
    const { neighbour, accounts } = first;
    t.match((await admin.get(`/admin/v1/devices/${neighbour}`)).body, { developerId: 'fleet-neighbour' });
    t.notOk(accounts.some(({ deviceId }) => deviceId === neighbour));
    t.equal((await provision({ ...at, ...names })).neighbour, neighbour, 'a second run of the name finds it');
    const longest = await provision({ ...at, ...names, developerId: 'x'.repeat(64), run: 'long', places: [0] });
    t.match((await admin.get(`/admin/v1/devices/${longest.neighbour}`)).body, {
      developerId: `${'x'.repeat(54)}-neighbour`,
    });
  });

  t.test('another run has other devices', async (t) => {
    const other = await provision({ ...at, ...names, run: 'shift' });
    const own = new Set(first.accounts.map(({ deviceId }) => deviceId));
    t.notOk(other.accounts.some(({ deviceId }) => own.has(deviceId)));
    t.not(other.application.applicationId, first.application.applicationId);
    await other.clean();
  });

  for (const [title, whose, change, words] of [
    [
      'another run',
      'smoke',
      { model: { description: 'A simulated wearable camera of the run shift' } },
      /belongs to the run shift/,
    ],
    ['nobody who simulates', 'smoke', { model: { name: 'A real one' } }, /belongs to no run of this name/],
    ['another developer', 'other', {}, /belongs to developer other/],
  ] as const) {
    t.test(`devices are left alone when one is that of ${title}`, async (t) => {
      const run = `met by ${title}`;
      const made = await provision({ ...at, ...names, run, places: [0, 1, 2] });
      const [one, foreign, gone] = made.accounts.map(({ deviceId }) => deviceId);
      await admin.post('/admin/v1/developers', { json: { developerId: 'other', name: 'Other' } });
      await admin.patch(`/admin/v1/devices/${foreign}`, {
        json: whose === 'other' ? { developerId: 'other' } : { hardwareProperties: change },
      });
      await admin.delete(`/admin/v1/devices/${gone}`);
      const again = provision({ ...at, ...names, run, places: [0, 1, 2] });
      await t.rejects(again, { option: '--run', message: words });
      await t.rejects(again, { message: new RegExp(`${foreign}.*was not changed`) });
      const link = await world.open(made.accounts[0]!);
      t.equal((await link.login()).returnCode, 0, `${one} has its credential`);
      t.equal((await admin.get(`/admin/v1/devices/${gone}`)).status, 404, 'what was made is gone again');
    });
  }

  t.test('clean leaves only the developer', async (t) => {
    await first.clean();
    t.equal((await admin.get('/admin/v1/developers/fleet/devices')).body.total, 5, 'of the other runs');
    t.equal((await admin.get(`/admin/v1/devices/${first.accounts[0]?.deviceId}`)).status, 404);
    t.equal((await admin.get(`/admin/v1/devices/${first.neighbour}`)).status, 404);
    const { applications } = (await admin.get('/admin/v1/developers/fleet/applications')).body;
    const left = (applications as { applicationId: string }[]).map(({ applicationId }) => applicationId);
    t.notOk(left.includes(first.application.applicationId));
    await first.clean();
    t.ok((await provision({ ...at, ...names })).application, 'and the name can be used again');
  });
});

t.test('a wrong administrator token and a missing service are reported with a sentence', async (t) => {
  const world = await startWorld(t);
  const names = { developerId: 'd', run: 'r', seed: 1, places: [0] };
  const { admin: adminUrl } = world.service.addresses;
  await t.rejects(provision({ adminUrl, token: 'x', ...names }), {
    message: /^the service refuses the administrator token: 401 /,
  });
  await t.rejects(provision({ adminUrl: 'http://127.0.0.1:9', token: 'x', ...names }), {
    message: /^cannot reach http:/,
  });
});
