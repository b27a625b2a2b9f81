import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

const LAUNCHER = 'com.lapel.launcher';
const FIRMWARE = 'com.lapel.firmware';
const MAIN = join(import.meta.dirname, '../../src/main.ts');
const APK = join(import.meta.dirname, '../../tools/demo/apks/camera-1.0.0.apk');

async function start(t: Test) {
  const world = await startWorld(t);
  const { addresses, adminToken } = world.service;
  const admin = (...args: string[]) =>
    run(['admin', ...args, '--admin-url', addresses.admin], { env: { LAPEL_ADMIN_TOKEN: adminToken } });
  return { world, admin };
}

t.test('system packages are put, listed and deleted', async (t) => {
  const { admin } = await start(t);
  t.match(await admin('system-package', 'list'), { code: 0, stdout: 'There are none.\n' });
  const put = await admin('system-package', 'put', LAUNCHER, '2.0.0+b.1', '--display-name', 'Launcher');
  t.equal(put.code, 0, put.stderr);
  t.match(put.stdout, /^package +com\.lapel\.launcher\n[\s\S]*version +2\.0\.0\+b\.1\n/);
  await admin('system-package', 'put', LAUNCHER, '2.0.0+b.1', '--description', 'steadier');
  const table = await admin('system-package', 'list');
  t.match(table.stdout.split('\n'), [
    /^PACKAGE +VERSION +UPDATED +NAME +DESCRIPTION$/,
    /^com\.lapel\.launcher +2\.0\.0\+b\.1 +2026-11-20 18:30:00 +Launcher +steadier$/,
    '',
  ]);
  const list = await admin('system-package', 'list', '--json');
  t.match(JSON.parse(list.stdout), { ok: true, total: 1, systemPackages: [{ package: LAUNCHER }] });
  const removed = await admin('system-package', 'delete', LAUNCHER, '2.0.0+b.1');
  t.same([removed.code, removed.stdout], [0, `deleted: ${LAUNCHER} 2.0.0+b.1\n`]);
  const again = await admin('system-package', 'delete', LAUNCHER, '2.0.0+b.1', '--json');
  t.equal(again.code, 1);
  t.match(again.stderr, /^lapel: cannot delete system-package: 404 package not found\. \(DELETE \/admin/);
  t.match(JSON.parse(again.stdout), { ok: false, error: { status: 404, reason: 'package not found.' } });
});

t.test('firmware is uploaded from any file, and devices can be updated to it', async (t) => {
  const { world, admin } = await start(t);
  const file = join(world.dataDir, 'camera.img');
  writeFileSync(file, 'firmware of nine and two');
  const uploaded = await admin('firmware', 'upload', file, '--package', FIRMWARE, '--version', '9.2.0', '--json');
  t.equal(uploaded.code, 0, uploaded.stderr);
  t.match(JSON.parse(uploaded.stdout), { ok: true, package: FIRMWARE, version: '9.2.0', fileSize: 24 });
  t.match(uploaded.stderr, /uploaded 24 B/);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await tenant.api.put(`${device.path}/firmware`, { json: { package: FIRMWARE, version: '9.2.0' } });
  const { parameters } = await device.link.command();
  t.equal(await (await fetch(String(parameters['url']))).text(), 'firmware of nine and two');
  t.match((await admin('firmware', 'list')).stdout, /com\.lapel\.firmware +9\.2\.0/);
});

t.test('package and version come from the APK; for other files they must be given', async (t) => {
  const { world, admin } = await start(t);
  const { code, stdout } = await admin('system-package', 'upload', APK);
  t.equal(code, 0);
  t.match(stdout, /com\.example\.camera +1\.0\.0/);
  const file = join(world.dataDir, 'camera.img');
  writeFileSync(file, '');
  const unnamed = await admin('firmware', 'upload', file, '--package', FIRMWARE);
  t.equal(unnamed.code, 2);
  t.match(
    unnamed.stderr,
    /^lapel: --version: is needed: camera\.img does not contain it\nSee: lapel admin firmware upload/,
  );
});

t.test('uploads that differ from their registration are listed', async (t) => {
  const { world, admin } = await start(t);
  const { applicationId, secret } = await world.createTenant();
  const options = ['--application', applicationId, '--url', world.service.addresses.http, '--version', '3.0.0'];
  await run(['app', 'upload', APK, ...options], { env: { LAPEL_APPLICATION_SECRET: secret } });
  await world.idle();
  const { code, stdout } = await admin('binary-warning', 'list');
  t.equal(code, 0);
  t.match(stdout, /com\.example\.camera +3\.0\.0 +2026-11-20 18:30:00 +the file has the version name 1\.0\.0/);
});

t.test('a list of several pages is read to its end', async (t) => {
  const { world, admin } = await start(t);
  const api = world.admin();
  for (let first = 0; first <= 1000; first += 91) {
    const versions = Array.from({ length: 91 }, (_, index) => `1.0.${first + index}`);
    await Promise.all(
      versions.map((version) => api.put(`/admin/v1/firmware/${FIRMWARE}/versions/${version}`, { json: {} })),
    );
  }
  const { stdout } = await admin('firmware', 'list', '--json');
  const { firmwareVersions, total } = JSON.parse(stdout) as { firmwareVersions: { version: string }[]; total: number };
  t.equal(total, 1001);
  t.equal(new Set(firmwareVersions.map(({ version }) => version)).size, 1001);
});

t.test('a long list arrives completely through a slow pipe', async (t) => {
  const { world } = await start(t);
  const description = 'long '.repeat(700);
  for (let minor = 0; minor < 60; minor += 1) {
    await world.admin().put(`/admin/v1/firmware/${FIRMWARE}/versions/1.${minor}.0`, { json: { description } });
  }
  const { addresses, adminToken } = world.service;
  const args = ['admin', 'firmware', 'list', '--json', '--admin-url', addresses.admin, '--token', adminToken];
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  await once(child.stdout, 'readable'); // the output is longer than a pipe holds, and is not read yet
  const list = (await json(child.stdout)) as { total: number };
  t.equal(list.total, 60);
  t.same(await exited, [0, null]);
});

t.test('the token comes from the command line, the environment or the data folder', async (t) => {
  const world = await startWorld(t);
  const { addresses, adminToken } = world.service;
  const list = (args: string[], env: Record<string, string> = {}) =>
    run(['admin', 'firmware', 'list', '--admin-url', addresses.admin, ...args], { env });
  t.equal((await list(['--token', adminToken])).code, 0);
  t.equal((await list([], { LAPEL_ADMIN_TOKEN: adminToken })).code, 0);
  t.equal((await list(['--data-dir', world.dataDir], { LAPEL_ADMIN_TOKEN: 'of another one' })).code, 0);
  t.equal((await list([], { LAPEL_DATA_DIR: world.dataDir })).code, 0);
  const wrong = await list(['--token', 'wrong']);
  t.equal(wrong.code, 1);
  t.match(wrong.stderr, /401 administrator token is missing or wrong\.[\s\S]*give the right --token/);
  const nowhere = await list(['--data-dir', join(world.dataDir, 'nowhere')]);
  t.equal(nowhere.code, 2);
  t.match(nowhere.stderr, /^lapel: --data-dir: there is no .*nowhere\/admin-token/);
  const none = await list([], { LAPEL_DATA_DIR: join(world.dataDir, 'nowhere') });
  t.equal(none.code, 2);
  t.match(none.stderr, /^lapel: --token: is needed \(or LAPEL_ADMIN_TOKEN, or --data-dir, or lapel login --admin\)/);
});

t.test('a wrong command line ends with 2 and names the help', async (t) => {
  const cases: [string[], RegExp][] = [
    [['firmware', 'put', FIRMWARE], /^lapel: VERSION: is needed\nSee: lapel admin firmware put --help/],
    [['firmware', 'list', '--token', 't', '--admin-url', 'x'], /^lapel: --admin-url: "x" is not an http or https URL/],
    [['firmware', 'remove'], /^lapel: unknown command "admin firmware remove"\nSee: lapel admin firmware --help\n$/],
    [
      ['firmwares'],
      /^lapel: unknown command "admin firmwares"; did you mean "admin firmware"\?\nSee: lapel admin --help\n$/,
    ],
  ];
  for (const [args, message] of cases) {
    const { code, stderr } = await run(['admin', ...args]);
    t.equal(code, 2, args.join(' '));
    t.match(stderr, message);
  }
  const help = await run(['admin', 'firmware', '--help']);
  t.equal(help.code, 0);
  t.match(help.stdout, /lapel admin firmware upload/);
  t.notMatch(help.stdout, /system-package/);
});
