import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { RESOURCES } from '@lapel/cli/admin/admin-resources';
import t from 'tap';
import { ROUTES } from '../../src/edge/admin/routes.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { run } from './run.ts';

const DEVICE = deviceIdOf(1);
const CAMERA = { model: { name: 'Camera', shape: 'clip' }, macAddressWifi: 'AA:BB:CC:DD:EE:FF' };

t.test('developers, applications and devices', async (t) => {
  const world = await startWorld(t);
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const admin = (line: string, input = '') => run(['admin', ...line.split(' ')], { env, input });
  const good = async (line: string, input = '') => {
    const { code, stdout, stderr } = await admin(`${line} --json`, input);
    t.equal(code, 0, `${line}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };

  t.test('a developer gets a contract, another one, and none', async (t) => {
    const made = await admin('developer create acme --name Acme --device-limit 10');
    t.equal(made.code, 0);
    t.match(made.stdout, /^developerId +acme\nname +Acme\ndeviceLimit +10\nsoftwareSignatures +optional\n/);
    t.match(await good('developer create --name Nameless'), { ok: true, developerId: String, deviceLimit: null });
    t.match(await good('developer update acme --device-limit 500'), { name: 'Acme', deviceLimit: 500 });
    t.match(await good('developer update acme --no-device-limit --name AcmeCorp'), {
      name: 'AcmeCorp',
      deviceLimit: null,
    });
    t.match(await good('developer show acme'), { deviceLimit: null });
    t.match((await admin('developer list')).stdout, /^DEVELOPER +NAME +DEVICE LIMIT\nacme +AcmeCorp/);
    const both = await admin('developer update acme --device-limit 5 --no-device-limit');
    t.match(both, { code: 2, stderr: /^lapel: --no-device-limit: cannot be combined with --device-limit/ });
    const odd = await admin('developer update acme --device-limit many');
    t.match(odd, { code: 2, stderr: /^lapel: --device-limit: "many" is not a whole number/ });
  });

  t.test('an application gets a secret, and another one', async (t) => {
    const made = await admin('application create patrol --developer acme --name Patrol');
    t.match(made, { code: 0, stdout: /\nsecret +\S{43}\nThe secret is shown only now, and never again/ });
    const { secret } = await good('application secret patrol');
    t.ok(await world.tokenOf('patrol', String(secret)));
    t.match((await admin('application list --developer acme')).stdout, /patrol +acme +Patrol +0 +2026-/);
    const removed = await admin('application delete patrol');
    t.same([removed.code, removed.stdout], [0, 'deleted: patrol\n']);
    t.equal((await admin('application list')).stdout, 'There are none.\n', 'of no developer');
    const lost = await admin('application create other');
    t.match(lost, { code: 2, stderr: /^lapel: --developer: is needed\nSee: lapel admin application create --help/ });
  });

  t.test('a device is registered with its hardware, moved, given a new credential, and removed', async (t) => {
    const file = join(world.dataDir, 'camera.json');
    writeFileSync(file, JSON.stringify(CAMERA));
    const { credential } = await good(`device register ${DEVICE} --developer acme --hardware ${file}`);
    await world.connect({ deviceId: DEVICE, credential: String(credential) });
    t.match(await good(`device show ${DEVICE}`), { activation: 'deactivated', hardwareProperties: CAMERA });
    const changed = await good(`device update ${DEVICE} --hardware -`, '{"model":{"name":"Other"}}');
    t.match(changed, { hardwareProperties: { model: { name: 'Other' } } });
    t.match(await good(`device update ${DEVICE} --no-hardware`), { hardwareProperties: null });
    const wanted = '-a-credential-of-my-own-of-32-characters-';
    t.match(await good(`device credential ${DEVICE} --credential ${wanted}`), { credential: wanted });
    await good('developer create globex --name Globex');
    t.match(await good(`device update ${DEVICE} --developer globex`), { developerId: 'globex' });
    t.match((await admin('device list --developer globex')).stdout, new RegExp(`${DEVICE} +globex +deactivated`));
    t.same((await admin(`device delete ${DEVICE}`)).stdout, `deleted: ${DEVICE}\n`);
    const gone = await admin(`device show ${DEVICE}`);
    t.match(gone, { code: 1, stderr: /^lapel: cannot show device: 404 device not found\./ });
    const status = await admin(`device status ${DEVICE} --json`);
    t.match(status, { code: 1, stderr: /^lapel: cannot read the status of the device: 404/ });
    t.match(JSON.parse(status.stdout), { ok: false, error: { status: 404, code: 'DEVICE_NOT_FOUND' } });
    t.match(await admin(`device credential ${DEVICE}`), {
      stderr: /^lapel: cannot replace the credential of the device/,
    });
    const broken = await admin(`device update ${DEVICE} --hardware -`, '{"model":');
    t.match(broken, { code: 2, stderr: /^lapel: --hardware: - is not valid JSON/ });
    const absent = await admin(`device update ${DEVICE} --hardware ${file}x`);
    t.match(absent, { code: 2, stderr: /^lapel: --hardware: there is no file/ });
    const faulty = await admin(`device register 123 --developer acme`);
    t.match(faulty, { code: 1, stderr: /\n {2}body\.deviceId: .* \(string_pattern_mismatch\)\n/ });
  });
});

t.test('every operation of the administration API is a command', async (t) => {
  const verbs = RESOURCES.flatMap((resource) => resource.verbs);
  const named = verbs.flatMap(({ operation, registers }) => (registers ? [operation, registers] : [operation]));
  // `lapel admin device import` has a request of its own; the commands for the lists of all developers have `--developer`
  // for the lists of one.
  const commands = new Set<string>([...named, 'importDevices', 'listApplications', 'listDevices']);
  // `lapel admin audit export` reads the list, page by page.
  commands.add('exportAudit');
  // It also stores the new token where the old one was.
  commands.add('renewOwnToken');
  // It has commands for each action.
  commands.add('startDeviceAction');
  // The feed is for pages; people use `lapel device watch` and lists.
  for (const word of ['Developer', 'Application'] as const)
    for (const name of [`remove${word}`, `read${word}Contents`] as const) commands.add(name);
  commands.add('readFeed');
  // `lapel keys`.
  for (const name of ['readEncryption', 'rotateEncryptionKey', 'listSigningKeys', 'renewSigningKey'] as const)
    commands.add(name);
  commands.add('renewObjectStoreKey');
  const routes = ROUTES.filter(({ path }) => path.includes('/admin/')).map(({ name }) => name);
  t.same([...commands].sort(), routes.sort());
});
