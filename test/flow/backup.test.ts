import { appendFileSync, cpSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { restoreBackup } from '../../src/platform/backup/restore-backup.ts';
import { startSoftware } from '../api/software-world.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { runMain } from './service-process.ts';

const PACKAGE = 'com.example.kept';

t.test('a backup that is made under load restores everything up to its moment', async (t) => {
  const { world, tenant, register, upload } = await startSoftware(t, { database: 'sqlite' });
  const device = await world.activatedDevice(tenant);
  await register(PACKAGE, '1.0.0');
  await upload(PACKAGE, '1.0.0', 'kept binary');
  await device.link.drop();
  const setWifi = async (): Promise<number> =>
    transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const before = await setWifi();
  const folder = join(world.dataDir, 'backups');
  const made = join(folder, 'made');
  const backup = (...more: string[]) => runMain(t, ['backup', made, '--data-dir', world.dataDir, ...more]);
  const restore = (from: string, dataDir: string) => runMain(t, ['restore', from, '--data-dir', dataDir]);

  const [run] = await Promise.all([backup(), ...Array.from({ length: 20 }, setWifi)]);
  t.match(run, { code: 0, stderr: '' });
  t.match(run.stdout, /made is a checked backup of 20\d\d-.*Z: lapel\.db, admin-token.* MiB\), 1 objects/);
  const after = await setWifi();
  for (const name of readdirSync(made, { recursive: true, encoding: 'utf8' })) {
    const { mode } = statSync(join(made, name));
    t.equal(mode & 0o077, 0, `only the owner can read ${name}`);
  }

  await t.test('nothing is overwritten', async (t) => {
    t.match(await backup(), { code: 1, stderr: /made is not empty \(it has .*\): name a new folder\n$/ });
    t.match(await restore(made, world.dataDir), { code: 78, stderr: /is in use by another process/ });
    const other = t.testdir({ 'lapel.db': 'of another service' });
    await t.rejects(restoreBackup({ folder: made, dataDir: other }), { message: /has data \(lapel\.db\)/ });
    t.match(await runMain(t, ['backup']), { code: 2, stderr: /FOLDER/ });
    const none = await runMain(t, ['backup', join(folder, 'other'), '--data-dir', folder]);
    t.match(none, { code: 1, stderr: /has no database of the service/ });
  });

  await t.test('a backup that is not whole is refused, and leaves nothing behind', async (t) => {
    const faults: [(copy: string) => void, RegExp][] = [
      [(copy) => appendFileSync(join(copy, 'lapel.db'), 'x'), /damaged: lapel\.db has another checksum/],
      [(copy) => rmSync(join(copy, 'admin-token')), /not whole: admin-token is missing/],
      [(copy) => rmSync(join(copy, 'objects/objects'), { recursive: true }), /not whole: it has 0 objects/],
      [(copy) => rmSync(join(copy, 'backup.json')), /is no finished backup/],
    ];
    for (const [index, [damage, message]] of faults.entries()) {
      const copy = join(folder, `copy-${index}`);
      cpSync(made, copy, { recursive: true });
      damage(copy);
      const dataDir = join(folder, `none-${index}`);
      await t.rejects(restoreBackup({ folder: copy, dataDir }), { message });
      t.throws(() => statSync(join(dataDir, 'lapel.db')), { code: 'ENOENT' });
    }
  });

  const dataDir = join(folder, 'restored');
  t.match(await restore(made, dataDir), { code: 0, stderr: '', stdout: /is as it was at .*--webhooks-held true/s });
  const { clock } = world;
  clock.advance(60_000);
  const held = await startWorld(t, { dataDir, database: 'sqlite', clock, env: { LAPEL_WEBHOOKS_HELD: 'true' } });
  const admin = held.admin();
  const listed = await admin.get(`/admin/v1/transactions?deviceId=${device.deviceId}&limit=1000`);
  const ids: number[] = listed.body.transactions.map((one: { transactionId: number }) => one.transactionId);
  t.ok(ids.includes(before) && !ids.includes(after), 'the moment of the backup decides');

  await t.test('numbers are not given again, devices log in as before, objects are there', async (t) => {
    const api = await held.clientOf(tenant.applicationId, tenant.secret);
    const next = transactionIdOf(await api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    t.ok(next > after, 'not even those that were given after the backup');
    const version = await api.get(`${tenant.path}/packages/${PACKAGE}/versions/1.0.0/binaries`);
    t.match(version.body, { appFileExists: true, fileSize: 'kept binary'.length });
    const link = await held.connect(device);
    const command = await link.command();
    t.equal(command.transactionId, before);
    await link.ack({ transactionId: before, status: 'succeeded' });
    await link.drop();
  });

  await t.test('webhooks are held until a start without the setting', async (t) => {
    await held.idle();
    const pending = await admin.get('/admin/v1/deliveries?status=pending');
    t.match(pending.body.deliveries, [{ transactionId: before, attempts: 0 }]);
    await held.service[Symbol.asyncDispose]();
    await startWorld(t, { dataDir, database: 'sqlite', clock });
    t.equal((await tenant.event()).data.transaction['transactionId'], before);
  });
});
