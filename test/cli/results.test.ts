import t from 'tap';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

t.test('whatever a device sends as its result, the command shows it in words', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { url } = tenant.receiver;
  await tenant.api.patch(tenant.path, { json: { fileUploadGetUrl: url, fileUploadEvent: url } });
  const { deviceId, link } = await world.activatedDevice(tenant);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const file = { kind: 'logs', fileId: 'f', name: 'log.txt', size: 12, sha256: 'ab'.repeat(32) };
  const peer = { name: 'ring', macAddress: 'AA:BB:CC:DD:EE:FF', paired: true, connected: false };
  // biome-ignore format: a table is read by its rows
  const cases: [line: string, result: unknown, shown: RegExp][] = [
    ['diagnose --kind logs', { files: [file] }, /^KIND +BYTES +SHA-256 +FILE\nlogs +12 +(ab){32} +log\.txt\n$/],
    ['diagnose', undefined, /^succeeded: |no file/],
    ['diagnose', { files: [] }, /^The device uploaded no file\.\n$/],
    ['diagnose', { files: 'x' }, /^The device uploaded no file\.\n$/],
    ['diagnose', { files: [null, 1, {}, file] }, /^logs +12/m],
    ['diagnose', { files: [{ ...file, name: { a: 1 }, size: 'x', sha256: null, kind: '\u202elogs\u001b[2J' }] }, /\\u\{202e\}logs\\u\{1b\}\[2J/],
    ['diagnose', { files: Array(300).fill({ ...file, size: 1e300 }) }, /^logs +/m],
    ['bluetooth list', { devices: [null, 1, peer] }, /^AA:BB:CC:DD:EE:FF +yes +no +ring$/m],
    ['bluetooth list', { devices: null }, /no Bluetooth device/],
  ];
  for (const [line, result, shown] of cases) {
    const [first, ...more] = line.split(/ (?=--)|$/);
    const running = run(
      ['device', ...first!.split(' '), deviceId, ...more.flatMap((one) => one.split(' ')), '--wait'],
      { env },
    );
    const { transactionId, packet } = await link.command();
    link.puback(packet);
    await link.ack({ transactionId, status: 'succeeded', ...(result !== undefined && { result }) } as never);
    const { code, stdout, stderr } = await running;
    const about = `${line} ${JSON.stringify(result)?.slice(0, 80)}`;
    t.equal(code, 0, `${about}: ${stderr}`);
    t.match(stdout, shown, about);
    t.notMatch(stdout, /undefined|\[object/, about);
  }
});
