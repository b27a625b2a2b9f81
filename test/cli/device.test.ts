import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { APN_FIELDS } from '@lapel/cli/device/device-commands';
import { TRANSACTION_STATES } from '@lapel/cli/device/device-reads';
import t from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

const schema = (name: string) =>
  JSON.parse(readFileSync(join(import.meta.dirname, `../../schemas/${name}.json`), 'utf8')) as {
    enum: string[];
    properties: object;
  };

t.test('lapel device', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const { deviceId, link } = device;
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string, more: Parameters<typeof run>[1] = {}) => run(line.split(' '), { env, ...more });
  /** Takes the next command of the device, and answers it. */
  async function answer(result?: object, status = 'succeeded', more: object = {}) {
    const { transactionId, operation, parameters, packet } = await link.command();
    link.puback(packet);
    await link.ack({ transactionId, status, ...(result && { result }), ...more });
    return { transactionId, operation, parameters };
  }

  t.test('a command can have terms, with durations in seconds or with a unit', async (t) => {
    const read = async (id: number) => (await tenant.api.get(`${device.path}/transactions/${id}`)).body;
    const older = await lapel(`device language ${deviceId} de --expire-in 90 --no-wait --json`);
    const newer = await lapel(`device language ${deviceId} ja --expire-in 2h --answer-within 10m --supersede --json`);
    const [first, second] = [older, newer].map(({ stdout }) => JSON.parse(stdout).transactionId as number);
    t.match(await read(first!), { status: 'cancelled', expiresAt: /:31:30/, supersededBy: second });
    t.match(await read(second!), { status: /queued|delivered/, expiresAt: /T20:30/, answerWithin: 600 });
    const { stdout } = await lapel(`device transactions ${deviceId} ${first}`);
    t.match(stdout, /SUPERSEDED/);
    t.match((await lapel(`device language ${deviceId} ja --expire-in soon`)).stderr, /"soon" is no duration/);
    t.match((await lapel(`device language ${deviceId} ja --expire-in 5s --no-wait`)).stderr, /expireIn/);
    t.match((await lapel(`device deactivate ${deviceId} --supersede`)).code, 2);
    t.match((await lapel('app upload camera.apk --expire-in 2h')).stderr, /needs --install/);
    // The device takes all that it has got, so that the next test finds nothing.
    const [command, cancel] = [await link.command(), await link.command()];
    t.match([command, cancel], [{ transactionId: first }, { operation: 'cancel', transactionId: first }]);
    for (const { packet } of [command, cancel]) link.puback(packet);
    t.equal((await tenant.event()).type, 'transaction.cancelled');
    await answer();
  });

  t.test('every operation of a device is a command, and is followed to its end', async (t) => {
    const file = join(world.dataDir, 'networks.json');
    writeFileSync(file, '[{"ssid":"a","security":"OPEN"},{"ssid":"b","security":"WPA3","password":"12345678"}]');
    const peer = { name: 'ring', macAddress: 'AA:BB:CC:DD:EE:FF', paired: true, connected: false };
    const state = { type: 'bluetooth', enabled: true };
    // biome-ignore format: a table is read by its rows
    const cases: [line: string, operation: string, parameters: object, result?: object, shown?: RegExp][] = [
      [`wifi ${deviceId} --ssid office --password -12345678`, 'setWifi', [{ ssid: 'office', security: 'WPA2', password: '-12345678' }]],
      [`wifi ${deviceId} --ssid open`, 'setWifi', [{ ssid: 'open', security: 'OPEN' }]],
      [`wifi ${deviceId} --file ${file}`, 'setWifi', [{ ssid: 'a' }, { ssid: 'b' }]],
      [`wifi ${deviceId} --none`, 'setWifi', []],
      [`apn ${deviceId} --name n --apn a --mcc 440 --mnc 10 --auth-type 3 --mvno-type spn`, 'setApn', [{ name: 'n', apn: 'a', mcc: '440', authType: 3, mvnoType: 'spn' }]],
      [`language ${deviceId} ja-JP`, 'setLanguage', { lang: 'ja-JP' }],
      [`bluetooth state ${deviceId}`, 'getConnectivityState', { type: 'bluetooth' }, state, /^Bluetooth is on\n$/],
      [`bluetooth off ${deviceId}`, 'setConnectivityState', { type: 'bluetooth', enabled: false }, { ...state, enabled: false }, /^Bluetooth is off\n$/],
      [`bluetooth list ${deviceId}`, 'listConnectivity', { type: 'bluetooth' }, { type: 'bluetooth', devices: [peer] }, /^MAC ADDRESS .*\nAA:BB:CC:DD:EE:FF +yes +no +ring\n$/],
      [`bluetooth pair ${deviceId} AA:BB:CC:DD:EE:FF`, 'pairBluetooth', { macAddress: 'AA:BB:CC:DD:EE:FF' }, { name: 'ring', macAddress: 'AA:BB:CC:DD:EE:FF' }, /^paired with AA:BB:CC:DD:EE:FF \(ring\)\n$/],
    ];
    for (const [line, operation, parameters, result, shown] of cases) {
      const running = lapel(`device ${line} --wait`);
      const did = await answer(result);
      t.match(did, { operation });
      const body = did.parameters as Record<string, unknown>;
      t.match(Array.isArray(parameters) ? Object.values(body)[0] : body, parameters, line);
      const { code, stdout, stderr } = await running;
      t.equal(code, 0, stderr);
      t.match(stdout, shown ?? new RegExp(`^succeeded: transaction ${did.transactionId} of ${deviceId}\n$`));
    }
  });

  t.test('in a script the command does not wait; it prints the transactionId', async (t) => {
    const { code, stdout } = await lapel(`device language ${deviceId} de --json`);
    t.equal(code, 0);
    const { transactionId } = await answer();
    t.same(JSON.parse(stdout), { ok: true, transactionId, deviceId });
    const plain = await lapel(`device language ${deviceId} fr`);
    t.match(plain, { code: 0, stdout: `transaction ${transactionId + 1} of ${deviceId}\n` });
    await answer();
    const tty = lapel(`device language ${deviceId} fr`, { tty: true });
    await answer();
    t.match(await tty, { code: 0, stdout: /^succeeded/ }, 'on a terminal it is waited for');
    t.match(await lapel(`device language ${deviceId} en --no-wait`, { tty: true }), { stdout: /^transaction \d+ of/ });
    await answer();
  });

  t.test('a failed operation ends with 1 and its reason; an unfinished one continues', async (t) => {
    const failing = lapel(`device wifi ${deviceId} --none --wait --json`);
    await answer(undefined, 'failed', { error: { code: 'STORAGE_FULL', message: 'no room' } });
    const { code, stdout, stderr } = await failing;
    t.equal(code, 1);
    t.match(JSON.parse(stdout), { ok: false, status: 'failed', error: { code: 'STORAGE_FULL' } });
    t.match(stderr, /lapel: transaction \d+ of \d+ failed: STORAGE_FULL no room/);
    const late = await lapel(`device wifi ${deviceId} --none --timeout 0`);
    t.match(late, { code: 1, stderr: /it goes on: lapel device transactions/ });
    const controller = new AbortController();
    const interrupted = await lapel(`device wifi ${deviceId} --none --wait`, {
      interrupted: controller.signal,
      pause: async () => controller.abort(),
    });
    t.match(interrupted, { code: 130, stdout: '', stderr: /goes on without this command[\s\S]*lapel device cancel/ });
    await answer();
    await answer();
  });

  t.test('transactions are listed, shown and cancelled', async (t) => {
    await link.drop();
    const { stdout } = await lapel(`device language ${deviceId} it --json`);
    const { transactionId } = JSON.parse(stdout) as { transactionId: number };
    const table = await lapel(`device transactions ${deviceId} --limit 2`);
    const lines = table.stdout.split('\n');
    t.match(lines[0], /^TRANSACTION +OPERATION +STATUS +ATTEMPTS +CREATED +COMPLETED +DETAIL$/);
    t.match(lines[1], new RegExp(`^${transactionId} +setLanguage +queued`));
    t.equal(lines.length, 4);
    const failed = await lapel(`device transactions ${deviceId} --status failed --limit 0 --json`);
    t.match(JSON.parse(failed.stdout), { ok: true, total: 1, transactions: [{ error: { code: 'STORAGE_FULL' } }] });
    t.match(await lapel(`device cancel ${deviceId} ${transactionId}`), { code: 0, stdout: /^cancelled: transaction/ });
    t.match((await lapel(`device transactions ${deviceId} ${transactionId}`)).stdout, /\nstatus +cancelled\n/);
    const again = await lapel(`device cancel ${deviceId} ${transactionId}`);
    t.match(again, { code: 1, stderr: /409 transaction is already finished/ });
    t.match(await lapel(`device cancel ${deviceId} x`), { code: 2, stderr: /"x" is not a transactionId/ });
  });

  t.test('devices are listed and shown; watch tells each change, and ends with Ctrl-C', async (t) => {
    const again = await world.connect(device);
    again.publish('status', {
      lang: 'ja',
      firmwareVersion: '9.001.0',
      battery: { level: 80, charging: true },
      network: { type: 'wifi', ssid: '会社のネットワーク', rssi: -60 },
    });
    await world.idle();
    const list = await lapel('device list --connected');
    t.match(list.stdout, new RegExp(`\n${deviceId} +yes +2026-\\S+ \\S+ +9\\.001\\.0 +80 % charging +ja +wifi 会社`));
    t.match(JSON.parse((await lapel('device list --limit 1 --json')).stdout), { total: 1, devices: [{ deviceId }] });
    const shown = await lapel(`device show ${deviceId}`);
    t.match(shown.stdout, /\nactivation +activated\n[\s\S]*\nconnected +yes\n[\s\S]*battery +80 % charging\n/);
    const stranger = await world.registerDevice();
    t.match((await lapel(`device show ${stranger.deviceId}`)).stdout, /activation +deactivated\n/);

    t.match(await lapel(`device firmware show ${deviceId}`), {
      code: 0,
      stdout: /version +9\.001\.0\n[\s\S]*available +none\n/,
    });

    const controller = new AbortController();
    let ordered = false;
    const watching = lapel(`device watch ${deviceId} --json`, {
      interrupted: controller.signal,
      async pause() {
        if (ordered) return;
        ordered = true;
        await lapel(`device language ${deviceId} pt`);
        // Several nodes may send a cancel again, whose PUBACK is not stored yet.
        let command = await again.command();
        while (command.operation !== 'setLanguage') {
          again.puback(command.packet);
          command = await again.command();
        }
        await again.ack({ transactionId: command.transactionId, status: 'succeeded' });
        await world.idle();
      },
      onWrite: (text) => text.includes('"status":"succeeded"') && controller.abort(),
    });
    const { code, stdout } = await watching;
    t.equal(code, 130);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    t.match(events[0], { type: 'status', fact: 'connected', value: 'connected' });
    t.match(events.at(-1), { type: 'transaction', operation: 'setLanguage', status: 'succeeded' });
    const told = events.filter(({ type }) => type === 'transaction').map(({ transactionId }) => transactionId);
    t.same(new Set(told), new Set([events.at(-1)?.['transactionId']]), 'what was finished before is not told');
    const ended = await lapel(`device watch ${deviceId} --timeout 0`);
    t.match(ended, { code: 0, stdout: /^device {2}connected\n[\s\S]*device {2}battery: 80 % charging\n/ });
  });

  t.test('numbers of a device are shown as they came, in tables and in JSON', async (t) => {
    const large = '12345678901234567890';
    const { deviceId, link } = await world.activatedDevice(tenant);
    const running = lapel(`device bluetooth state ${deviceId} --wait --json`);
    const { transactionId, packet } = await link.command();
    link.puback(packet);
    const result = `{"type":"bluetooth","enabled":true,"n":[${large},1.0,1e400]}`;
    link.publish('acks', `{"transactionId":${transactionId},"status":"succeeded","result":${result}}`);
    const shown = `"result":${result}`;
    t.match((await running).stdout, shown);
    t.match((await lapel(`device transactions ${deviceId} ${transactionId} --json`)).stdout, shown);
    t.match((await lapel(`device transactions ${deviceId} ${transactionId}`)).stdout, result);
    t.match((await lapel(`device transactions ${deviceId} --limit 1`)).stdout, result);

    const software = `[{"package":"com.example.camera","version":"1.0.0","versionCode":${large}}]`;
    const network = `{"type":"wifi","ssid":"office","rssi":-${large}}`;
    link.publish('status', `{"software":${software},"network":${network},"storage":{"total":${large},"free":1e18}}`);
    await until(async () => (await lapel(`device show ${deviceId} --json`)).stdout.includes(`"software":${software}`));
    const table = (await lapel(`device show ${deviceId}`)).stdout;
    t.match(table, `com.example.camera 1.0.0 (${large})`);
    t.match(table, `wifi office -${large} dBm`);
    t.match(table, '1000000000.0 GB of 12345678901.2 GB free');
    t.match((await lapel('device list --json')).stdout, `"software":${software}`);
    t.match((await lapel('device list')).stdout, `-${large} dBm`);
    const env = { LAPEL_ADMIN_URL: world.service.addresses.admin, LAPEL_ADMIN_TOKEN: world.service.adminToken };
    const fleet = await run(['admin', 'device', 'status', deviceId, '--json'], { env });
    t.match(fleet.stdout, `"rssi":-${large}`);
  });

  t.test('a device that will never answer gets a warning, with the way to cancel', async (t) => {
    const old = await world.activatedDevice(tenant);
    old.link.publish('status', { firmwareVersion: '8.9.0', managementClientVersion: '2.3.1' });
    await world.idle();
    const controller = new AbortController();
    const { code, stderr } = await lapel(`device bluetooth state ${old.deviceId} --wait`, {
      interrupted: controller.signal,
      onWrite: (text) => text.includes('lapel device cancel') && controller.abort(),
    });
    t.equal(code, 130);
    t.match(stderr, /warning: \d+ will not answer: FIRMWARE_TOO_OLD .*\n {2}lapel device cancel \d+ \d+\n/);
  });

  t.test('a refused activation is shown with advice', async (t) => {
    const stranger = await world.registerDevice();
    const activated = await lapel(`device activate ${deviceId} --client-id c`);
    t.match(activated, { code: 1, stderr: /403 device is already activated\.[\s\S]*lapel device show/ });
    t.match(await lapel(`device activate ${stranger.deviceId} --client-id c`), { code: 0 });
    const unknown = await lapel(`device wifi ${(await world.registerDevice()).deviceId} --none`);
    t.match(unknown, {
      code: 1,
      stderr:
        /^lapel: cannot send the command wifi to \d+: 403 device is not activated\.[\s\S]*lapel device activate DEVICE/,
    });
    for (const version of ['com.example.camera 1.0.0', 'com.example.camera@1.0.0'])
      t.match(await lapel(`device install ${deviceId} ${version}`), {
        code: 1,
        stderr: /cannot send the command install to \d+: 404 package not found/,
      });
    t.match(await lapel(`device firmware update ${deviceId} com.lapel.firmware 1`), { code: 1, stderr: /firmware/ });
    t.match(await lapel(`device deactivate ${deviceId}`), { code: 0 });
  });

  t.test('a wrong command line is reported before anything is sent', async (t) => {
    const cases: [string, RegExp][] = [
      [`wifi ${deviceId}`, /^lapel: --file: give either --file, or --none, or the options of one entry/],
      [`wifi ${deviceId} --none --ssid a`, /^lapel: --file: give either/],
      [`wifi ${deviceId} --password a`, /^lapel: --password: needs --ssid/],
      [`wifi ${deviceId} --ssid a --security WPA`, /did you mean WPA2\?/],
      [`wifi ${deviceId} --none --wait --no-wait`, /^lapel: --no-wait: cannot be combined with --wait/],
      ['wifi', /^lapel: DEVICE: is needed/],
      [`install ${deviceId} com.example.camera`, /^lapel: VERSION: is needed\n/],
      [`install ${deviceId} com.example.camera@`, /^lapel: VERSION: must not be empty\n/],
      [`install ${deviceId} @1.0.0`, /^lapel: PACKAGE: must not be empty\n/],
      [`install ${deviceId} com.example.camera@1.0.0 1.0.0`, /^lapel: 1\.0\.0: is one argument too many\n/],
    ];
    for (const [line, words] of cases) t.match(await lapel(`device ${line}`), { code: 2, stderr: words }, line);
    t.match(await lapel('device install --help'), { code: 0, stdout: /one word: PACKAGE@VERSION\n/ });
  });
});

t.test('the words of the command line are those of the schemas', async (t) => {
  t.same([...APN_FIELDS].sort(), Object.keys(schema('common/apn-entry').properties).sort());
  t.same([...TRANSACTION_STATES].sort(), [...schema('common/transaction-status').enum].sort());
});
