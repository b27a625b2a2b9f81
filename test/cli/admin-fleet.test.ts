import t from 'tap';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { run } from './run.ts';

t.test('the fleet can be watched from the command line', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { deviceId: silent } = await world.registerDevice();
  const { addresses, adminToken } = world.service;
  const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
  const admin = (line: string, input = '') => run(['admin', ...line.split(' ')], { env, input });
  const good = async (line: string, input = '') => {
    const { code, stdout, stderr } = await admin(`${line} --json`, input);
    t.equal(code, 0, `${line}: ${stderr}`);
    return JSON.parse(stdout) as Record<string, unknown>;
  };
  const rows = async (line: string, key: string, id: string): Promise<unknown[]> =>
    ((await good(line))[key] as Record<string, unknown>[]).map((row) => row[id]);
  const wifi = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  const lang = transactionIdOf(await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: 'ja' } }));
  await world.idle();

  t.test('devices by filters', async (t) => {
    const devices = (line: string) => rows(`device list${line}`, 'devices', 'deviceId');
    t.same(await devices(''), [device.deviceId, silent]);
    t.same(await devices(' --not-seen-for 7d'), [silent]);
    t.same(await devices(' --connected true --developer dev'), [device.deviceId]);
    t.match(await good('device list'), { total: 2 }, 'all of them');
    world.clock.advance(60_000); // the time at which it was seen is stored after so long
    await world.idle();
    t.same(await devices(' --sort lastSeen --limit 1'), [silent]);
    t.notOk('total' in (await good('device list --limit 1')), 'how many there are is not known');
    const table = (await admin('device list')).stdout;
    t.match(table, /^DEVICE +DEVELOPER +ACTIVATION +APPLICATION +CONNECTED +LAST SEEN \(UTC\) +FIRMWARE/);
    t.match(table, new RegExp(`${device.deviceId} +dev +activated +dev-app +connected +2026-11-20 09:30:00`));
    const faulty = await admin('device list --not-seen-for week');
    t.match(faulty, { code: 1, stderr: /query\.notSeenFor: .*as 7d or 12h/ });
  });

  t.test('one device: status, connection, queue; and the end of its connection', async (t) => {
    t.match(await good(`device status ${device.deviceId}`), { fields: [], software: [] });
    t.match(await good(`device connection ${device.deviceId}`), { connected: true, transport: 'mqtt' });
    t.same(await rows(`device transactions ${device.deviceId}`, 'transactions', 'transactionId'), [lang, wifi, 1]);
    const queue = await rows(`device transactions ${device.deviceId} --unfinished`, 'transactions', 'transactionId');
    t.same(queue, [wifi, lang]);
    t.same((await admin(`device disconnect ${device.deviceId}`)).stdout, `disconnected: ${device.deviceId}\n`);
    await device.link.closed;
  });

  t.test('transactions: listed, shown, cancelled', async (t) => {
    world.clock.advance(3_600_000 - 60_000);
    const list = (line: string) => rows(`transaction list${line}`, 'transactions', 'transactionId');
    t.same(await list(' --unfinished --older-than 1h'), [], 'not quite an hour');
    world.clock.advance(1);
    t.same(await list(' --unfinished --older-than 1h'), [wifi, lang]);
    t.same(await list(' --status succeeded --application dev-app'), [1]);
    t.same(await list(' --warning'), []);
    t.match(
      (await admin('transaction list --unfinished')).stdout,
      /^TRANSACTION +DEVICE .*\n\d+ +\d{15} +dev-app +setWifi/,
    );
    const shown = await good(`transaction show ${wifi}`);
    t.match(shown, { operation: 'setWifi', subject: '1 network', parameters: { networks: [{ password: '••••' }] } });
    t.equal((await admin(`transaction cancel ${wifi}`)).stdout, `cancelled: ${wifi}\n`);
    t.match(await admin(`transaction cancel ${wifi}`), { code: 1, stderr: /transaction is already finished/ });
    t.match(await good('transaction cancel-many --transactions -', JSON.stringify([wifi, lang])), {
      results: [
        { transactionId: wifi, cancelled: false, code: 'TRANSACTION_FINISHED' },
        { transactionId: lang, cancelled: true },
      ],
    });
    t.match(await admin('transaction show x'), { code: 1, stderr: /pathParameters\.transactionId/ });
  });

  t.test('applications, packages, search, settings', async (t) => {
    await world.admin().put('/admin/v1/firmware/com.lapel.firmware/versions/9.2.0', { json: {} });
    t.match(await good('application show dev-app'), { activated: 1, hasKey: true });
    t.same(await rows('application list', 'applications', 'applicationId'), ['dev-app']);
    t.match((await admin('package list')).stdout, /\nfirmware +com\.lapel\.firmware +1 +9\.2\.0 +2026-/);
    t.match(await good('package show com.lapel.firmware --line firmware'), { versions: 1 });
    const versions = await admin('package versions com.lapel.firmware --line firmware');
    t.match(
      versions.stdout,
      /^VERSION +DISTRIBUTING +BYTES +INSTALLED +WAITING +FAILED.*\n9\.2\.0 +distributing +0 +0 +0/,
    );
    t.match(await good('package installations com.lapel.firmware 9.2.0 --line firmware'), { devices: [], total: 0 });
    t.match((await admin(`search ${silent}`)).stdout, new RegExp(`^KIND +ID +OF\\ndevice +${silent} +dev\\n$`));
    t.match(await good('search firmware'), { results: [{ kind: 'package', parent: 'firmware' }] });
    t.match((await admin('setting list')).stdout, /\nLAPEL_RETENTION_DAYS +90/);
    t.match(await admin('developer delete dev'), { code: 1, stderr: /developer still has applications/ });
  });
});
