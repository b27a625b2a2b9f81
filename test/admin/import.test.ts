import { request as openRequest } from 'node:http';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { loadContracts } from '@lapel/schemas/contracts/contracts';
import t from 'tap';
import { faultsOf } from '../api/operations.ts';
import { deviceIdOf, startWorld } from '../world.ts';

const NDJSON = 'application/x-ndjson';
const contracts = loadContracts();

t.test('import of devices', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  await world.createTenant('rival');
  const admin = world.admin();
  const path = '/admin/v1/developers/dev/devices/import';
  async function send(text: string | Buffer, type = NDJSON) {
    const answer = await admin.post(path, { text, headers: { 'content-type': type } });
    t.equal(answer.status, 200);
    const lines = String(answer.body)
      .trim()
      .split('\n')
      .filter((line) => line !== '');
    return lines.map((line) => contracts.check('admin/imported-device', JSON.parse(line), 'body'));
  }
  const total = async (): Promise<number> => (await admin.get('/admin/v1/developers/dev/devices')).body.total;
  const secret = (number: number): string => `credential ${String(number).padStart(32, '0')}`;

  t.test('each line of NDJSON is answered with its device and credential, and the device can log in', async (t) => {
    const given = [
      { deviceId: deviceIdOf(1) },
      { deviceId: deviceIdOf(2), credential: secret(2), hardwareProperties: { macAddressWifi: 'AA:BB:CC:DD:EE:FF' } },
    ];
    const answers = await send(given.map((one) => JSON.stringify(one)).join('\n'));
    t.match(answers, [
      { line: 1, deviceId: deviceIdOf(1), credential: String },
      { line: 2, deviceId: deviceIdOf(2), credential: secret(2) },
    ]);
    await world.connect({ deviceId: deviceIdOf(1), credential: answers[0]?.credential ?? '' });
    const device = await admin.get(`/admin/v1/devices/${deviceIdOf(2)}`);
    t.match(device.body, { hardwareProperties: { macAddressWifi: 'AA:BB:CC:DD:EE:FF' } });
  });

  t.test('a wrong line is answered with its number and its fault, and does not affect the others', async (t) => {
    const before = await total();
    const answers = await send(
      [
        `{"deviceId":"${deviceIdOf(3)}"}`,
        '{"deviceId":"123","credential":"short","model":1}',
        'not JSON',
        '',
        `{"deviceId":"${deviceIdOf(3)}"}`,
        '[]',
        `{"deviceId":"${deviceIdOf(4)}","hardwareProperties":{"macAddressWifi":"no"}}`,
        '"'.padEnd(70_000, 'x'),
        `{"deviceId":"${deviceIdOf(5)}"}\r`,
      ].join('\n'),
    );
    t.same(
      answers.map(({ line, error }) => [line, error?.reason ?? error?.message]),
      [
        [1, undefined],
        [2, 'invalid request.'],
        [3, 'invalid request.'],
        [5, 'device already exists.'],
        [6, 'invalid request.'],
        [7, 'invalid request.'],
        [8, 'invalid request.'],
        [9, undefined],
      ],
    );
    t.same(faultsOf({ body: answers[1]?.error as never }), [
      'body.credential string_too_short',
      'body.deviceId string_pattern_mismatch',
      'body.model extra_forbidden',
    ]);
    t.match(answers[6]?.error, { details: [{ msg: 'the line is longer than 65536 bytes' }] });
    t.equal(await total(), before + 2);
  });

  t.test('CSV names its fields in the first line; an empty cell is a field that is left out', async (t) => {
    const csv = [
      '\ufeffdeviceId,credential,hardwareProperties.model.name,hardwareProperties.camera',
      `${deviceIdOf(6)},${secret(6)},"Camera, ""small""",`,
      `${deviceIdOf(7)},,,"[{""direction"":""front""}]"`,
      `${deviceIdOf(8)},,,nonsense`,
      '1,,,',
    ].join('\r\n');
    const answers = await send(csv, 'text/csv; charset=utf-8');
    t.match(answers, [
      { line: 2, deviceId: deviceIdOf(6), credential: secret(6) },
      { line: 3, deviceId: deviceIdOf(7) },
      { line: 4, error: { details: [{ msg: 'hardwareProperties.camera is not JSON' }] } },
      { line: 5, error: { details: [{ loc: ['body', 'deviceId'] }] } },
    ]);
    const { body } = await admin.get(`/admin/v1/devices/${deviceIdOf(6)}`);
    t.match(body.hardwareProperties, { model: { name: 'Camera, "small"' } });
    const second = await admin.get(`/admin/v1/devices/${deviceIdOf(7)}`);
    t.match(second.body.hardwareProperties, { camera: [{ direction: 'front' }] });
  });

  t.test('a CSV row with too many or too few cells is named, and does not affect the others', async (t) => {
    const rows = [`${deviceIdOf(12)},,b`, `${deviceIdOf(13)},`, deviceIdOf(14), `${deviceIdOf(15)},`];
    t.match(await send(`deviceId,credential\n${rows.join('\n')}\n`, 'text/csv'), [
      { line: 2, error: { details: [{ msg: /columns length is 2, got 3 on line 2/ }] } },
      { line: 3, deviceId: deviceIdOf(13) },
      { line: 4, error: { details: [{ msg: /columns length is 2, got 1 on line 4/ }] } },
      { line: 5, deviceId: deviceIdOf(15) },
    ]);
  });

  t.test('broken CSV is read up to the broken line, which is named', async (t) => {
    const rows = [deviceIdOf(9), `${deviceIdOf(10)}"`, deviceIdOf(11)].join('\n');
    t.match(await send(`deviceId\n${rows}\n`, 'text/csv'), [
      { line: 2, deviceId: deviceIdOf(9) },
      { line: 3, error: { details: [{ msg: /^no CSV from here on: / }] } },
    ]);
    const polluting = await send('__proto__.polluted,constructor.prototype.polluted\nx,y\n', 'text/csv');
    t.match(polluting, [{ line: 2, error: { reason: 'invalid request.' } }]);
    t.equal(({} as Record<string, unknown>)['polluted'], undefined);
  });

  t.test(
    'an import with credentials can be repeated unchanged, but not with other credentials or another developer',
    async (t) => {
      const text = JSON.stringify({ deviceId: deviceIdOf(11), credential: secret(11) });
      const first = await send(text);
      t.same(await send(text), first);
      t.match(await send(text.replace(secret(11), secret(12))), [{ error: { message: 'device already exists.' } }]);
      t.match(await send(`{"deviceId":"${deviceIdOf(11)}"}`), [{ error: { message: 'device already exists.' } }]);
      const rival = await admin.post('/admin/v1/developers/rival/devices/import', {
        text,
        headers: { 'content-type': NDJSON },
      });
      t.match(rival.body, /device already exists/);
    },
  );

  t.test('another content type is answered 400, an empty import with nothing', async (t) => {
    const wrong = await admin.post(path, { text: '{}', headers: { 'content-type': 'application/json' } });
    t.same([wrong.status, faultsOf(wrong)], [400, ['header.Content-Type enum']]);
    const empty = await fetch(world.service.addresses.admin + path, {
      method: 'POST',
      body: '\n',
      headers: { 'content-type': NDJSON, authorization: `Bearer ${world.service.adminToken}` },
    });
    t.same([empty.status, await empty.text()], [200, '']);
  });

  t.test(
    'lines are answered while later ones arrive, and lines sent before a broken connection are done',
    async (t) => {
      const { hostname, port } = new URL(world.service.addresses.admin);
      const headers = { authorization: `Bearer ${world.service.adminToken}`, 'content-type': NDJSON };
      const request = openRequest({ hostname, port, path, method: 'POST', headers });
      const before = await total();
      const line = (number: number): string => `${JSON.stringify({ deviceId: deviceIdOf(number) })}\n`;
      for (let number = 1000; number < 1250; number += 1) request.write(line(number));
      const response = await new Promise<NodeJS.ReadableStream>((resolve) => request.once('response', resolve));
      const answers = createInterface({ input: response })[Symbol.asyncIterator]();
      t.match(JSON.parse((await answers.next()).value as string), { line: 1, deviceId: deviceIdOf(1000) });
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      request.destroy();
      await world.idle();
      const after = await total();
      t.ok(after >= before + 200, 'what was answered is there');
      t.equal((await admin.get('/admin/v1/developers')).status, 200, 'and the service goes on');
    },
  );

  t.test('memory stays flat: while the client does not read answers, the service does not read lines', async (t) => {
    const { hostname, port } = new URL(world.service.addresses.admin);
    const headers = { authorization: `Bearer ${world.service.adminToken}`, 'content-type': NDJSON };
    const request = openRequest({ hostname, port, path, method: 'POST', headers });
    request.on('error', () => undefined);
    // Wrong lines make long answers and no devices, and the client does not read the answers.
    const chunk = '{"deviceId":"x"}\n'.repeat(4000);
    const limit = 8 * 1024 * 1024;
    request.on('response', () => undefined); // present, but unread; without a listener Node would discard the answer
    let sent = 0;
    let silent = 0;
    // Both ends share one event loop: after so many turns without progress there will be none.
    while (sent < limit && silent < 300) {
      if (request.writableNeedDrain) {
        silent += 1;
        await turn();
        continue;
      }
      silent = 0;
      request.write(chunk);
      sent += chunk.length;
    }
    t.ok(sent < limit, `the service stopped reading after ${sent} bytes`);
    request.destroy();
    await world.idle();
  });

  t.test('a failed write is an error of its line', async (t) => {
    const mend = await (await world.raw()).breakWrites('INSERT ON devices');
    t.match(await send(`{"deviceId":"${deviceIdOf(20)}"}`), [{ line: 1, error: { message: 'internal error.' } }]);
    await mend();
  });
});
