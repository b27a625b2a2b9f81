import t from 'tap';
import { run } from '../cli/run.ts';
import { startWorld, WIFI } from '../world.ts';

const SECOND = 1_000;
const DAY = 24 * 3600 * SECOND;

t.test('an application reads the summary of its own fleet', async (t) => {
  const world = await startWorld(t);
  const [tenant, other] = [await world.createTenant(), await world.createTenant('other')];
  const [one, two, foreign] = [
    await world.activatedDevice(tenant),
    await world.activatedDevice(tenant),
    await world.activatedDevice(other),
  ];
  await world.registerDevice();
  const report = async ({ link }: typeof one, status: object): Promise<void> => {
    link.publish('status', status);
    await link.next('puback');
  };
  const software = (...items: [name: string, version: string][]) => ({
    software: items.map(([name, version]) => ({ package: name, version, versionCode: 1 })),
  });
  await report(one, {
    firmwareVersion: '9.1',
    battery: { level: 100, charging: false },
    ...software(['com.a', '1'], ['com.b', '1']),
  });
  await report(two, { battery: { level: 9, charging: false }, ...software(['com.a', '2']) });
  await report(foreign, {
    firmwareVersion: '8.0',
    battery: { level: 50, charging: false },
    ...software(['com.c', '1'], ['com.a', '1']),
  });
  const fleetOf = async ({ api, path }: typeof tenant) => (await api.get(`${path}/fleet`)).body;
  const failed = async ({ path, link }: typeof one, { api }: typeof tenant): Promise<void> => {
    await api.put(`${path}/settings/wifi`, { json: WIFI });
    const { transactionId } = await link.command();
    await link.ack({ transactionId, status: 'failed' });
  };
  await failed(one, tenant);
  await failed(foreign, other);
  await failed(foreign, other);
  await two.link.drop();
  await tenant.api.put(`${two.path}/settings/wifi`, { json: WIFI });
  await world.idle();

  await t.test('devices, what they have, and commands; those of other applications are not counted', async (t) => {
    t.same(await fleetOf(tenant), {
      at: '2026-11-20T09:30:00.123456Z',
      estimate: false,
      devices: { activated: 2, connected: 1 },
      firmwareVersions: [
        { version: null, devices: 1 },
        { version: '9.1', devices: 1 },
      ],
      battery: [
        { level: '90-100', devices: 1 },
        { level: '0-9', devices: 1 },
      ],
      packages: [
        {
          package: 'com.a',
          devices: 2,
          versions: [
            { version: '1', devices: 1 },
            { version: '2', devices: 1 },
          ],
        },
        { package: 'com.b', devices: 1, versions: [{ version: '1', devices: 1 }] },
      ],
      commands: { waiting: 1, failed: 1, failedSince: '2026-11-19T09:30:00.123456Z' },
    });
    t.match(await fleetOf(other), {
      devices: { activated: 1, connected: 1 },
      firmwareVersions: [{ version: '8.0', devices: 1 }],
      commands: { waiting: 0, failed: 2 },
    });
  });

  await t.test('each number is that of the rows of its list', async (t) => {
    const { commands } = await fleetOf(tenant);
    const rows = async (path: string, name: string): Promise<number> =>
      (await tenant.api.get(`${tenant.path}/${path}`)).body[name].length;
    t.equal(await rows('devices?activation=activated&connected=true', 'devices'), 1);
    t.equal(await rows('devices?activation=activated&package=com.a&version=2', 'devices'), 1);
    t.equal(await rows('transactions?unfinished=true', 'transactions'), commands.waiting);
    t.equal(await rows(`transactions?status=failed&since=${commands.failedSince}`, 'transactions'), commands.failed);
  });

  await t.test('the answer is kept for ten seconds, and failures count for a day', async (t) => {
    await failed(one, tenant);
    t.match(await fleetOf(tenant), { commands: { failed: 1 } });
    world.clock.advance(11 * SECOND);
    await world.idle();
    t.match(await fleetOf(tenant), { commands: { failed: 2 } });
    world.clock.leap(DAY);
    await world.idle();
    await tenant.renew();
    t.match(await fleetOf(tenant), { devices: { activated: 2 }, commands: { failed: 0 } });
  });

  await t.test('the token says whose application it is', async (t) => {
    t.same((await tenant.api.get(`${tenant.path}/me`)).body, {
      applicationId: 'dev-app',
      applicationName: 'dev',
      developerId: 'dev',
      developerName: 'dev',
      scopes: ['svc:application:read', 'svc:application:write', 'svc:device:read', 'svc:device:write'],
      member: null,
    });
  });

  await t.test('the command line shows it', async (t) => {
    const env = {
      LAPEL_URL: world.service.addresses.http,
      LAPEL_APPLICATION: tenant.applicationId,
      LAPEL_APPLICATION_SECRET: tenant.secret,
      NO_COLOR: '1',
    };
    const { stdout } = await run(['device', 'fleet'], { env });
    t.match(stdout, /^activated +2\nconnected +\d\nwaiting +\d\nfailed +0\n/);
    t.match(stdout, /^com\.a +DEVICES\n1 +1\n2 +1$/m);
    t.match(JSON.parse((await run(['device', 'fleet', '--json'], { env })).stdout), {
      ok: true,
      devices: { activated: 2 },
    });
  });
});
