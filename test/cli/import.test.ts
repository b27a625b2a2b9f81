import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer, request as forward } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { openImportOutput } from '@lapel/cli/import/import-output';
import t from 'tap';
import { deviceIdOf, startWorld } from '../world.ts';
import { run } from './run.ts';

interface Row {
  deviceId: string;
  credential: string;
}
const rowsOf = (file: string): Row[] =>
  readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Row);
const csvOf = (first: number, count: number): string =>
  ['deviceId', ...Array.from({ length: count }, (_, index) => deviceIdOf(first + index))].join('\n');

t.test('lapel admin device import', async (t) => {
  const world = await startWorld(t);
  await world.createTenant();
  const { addresses, adminToken } = world.service;
  const folder = t.testdir();
  const at = (name: string): string => join(folder, name);
  type More = Parameters<typeof run>[1] & { url?: string };
  const lapel = (line: string, { url = addresses.admin, ...more }: More = {}) =>
    run(`admin device import ${line} --admin-url ${url}`.split(' '), {
      ...more,
      env: { LAPEL_ADMIN_TOKEN: adminToken, NO_COLOR: '1' },
    });
  const total = async (): Promise<number> => (await world.admin().get('/admin/v1/developers/dev/devices')).body.total;

  /** A proxy in front of administration that breaks the connection after so many lines of answers, so many times. */
  let breaks = 0;
  let afterLines = 0;
  let afterLinesThen: number | undefined;
  const proxy = createServer((request, response) => {
    const upstream = forward(addresses.admin + (request.url ?? ''), { method: 'POST', headers: request.headers });
    upstream.on('error', () => response.destroy());
    upstream.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      let lines = 0;
      answer.on('error', () => response.destroy());
      answer.on('data', (chunk: Buffer) => {
        lines += chunk.toString().split('\n').length - 1;
        if (breaks > 0 && lines >= afterLines) {
          breaks -= 1;
          afterLines = afterLinesThen ?? afterLines;
          request.socket.destroy();
          upstream.destroy();
        } else response.write(chunk);
      });
      answer.on('end', () => response.end());
    });
    request.pipe(upstream);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => proxy.once('listening', resolve));
  t.teardown(() => proxy.close());
  const broken = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  t.test('CSV: each device is registered with a credential that is made here and is only in the output', async (t) => {
    writeFileSync(
      at('a.csv'),
      `deviceId,hardwareProperties.model.name\n${deviceIdOf(1)},"Cam, one"\n${deviceIdOf(2)},\n`,
    );
    const { code, stdout, stderr } = await lapel(`${at('a.csv')} --developer dev --output ${at('a.out')}`);
    t.equal(code, 0, stderr);
    t.match(stdout, /^2 lines in .*: 2 registered, 0 skipped, 0 failed\. Credentials: /);
    t.equal(statSync(at('a.out')).mode & 0o777, 0o600);
    const rows = rowsOf(at('a.out'));
    t.match(rows, [
      { deviceId: deviceIdOf(1), credential: /^[\w][\w-]{42}$/ },
      { deviceId: deviceIdOf(2), credential: /^[\w][\w-]{42}$/ },
    ]);
    await world.connect(rows[1]!);
    const { body } = await world.admin().get(`/admin/v1/devices/${deviceIdOf(1)}`);
    t.match(body.hardwareProperties, { model: { name: 'Cam, one' } });
  });

  t.test(
    'NDJSON on standard input: a fault is shown with line, field and text, and does not affect other lines',
    async (t) => {
      const own = 'a credential of its own, 32 or more';
      const input = [
        `{"deviceId":"${deviceIdOf(10)}","credential":"${own}"}`,
        '',
        '{"deviceId":"123","model":1}',
        'nonsense',
        `{"deviceId":"${deviceIdOf(1)}"}`,
        '[]',
        `{"deviceId":"${deviceIdOf(11)}"}`,
      ].join('\n');
      const line = `- --format ndjson --developer dev --output ${at('b.out')}`;
      const { code, stdout, stderr } = await lapel(`${line} --json`, { input });
      t.equal(code, 1);
      t.match(JSON.parse(stdout), {
        ok: false,
        lines: 6,
        registered: 2,
        failed: 4,
        errors: [{ line: 4, deviceId: null }, { line: 3, deviceId: '123' }, { line: 5 }, { line: 6 }],
      });
      for (const words of [
        /^standard input:3: deviceId: String should have exactly 15 digits \(string_pattern_mismatch\)$/m,
        /^standard input:3: model: Extra inputs are not permitted \(extra_forbidden\)$/m,
        /^standard input:4: line: the line is not JSON in UTF-8 \(json_invalid\)$/m,
        new RegExp(`^standard input:5: ${deviceIdOf(1)}: device already exists\\.$`, 'm'),
        /^lapel: 4 of 6 lines failed; correct them and run the command again\n {2}existing devices keep their credential/m,
      ]) {
        t.match(stderr, words);
      }
      t.same(
        rowsOf(at('b.out')).map(({ deviceId }) => deviceId),
        [deviceIdOf(10), deviceIdOf(11)],
        'what was refused is not in the output',
      );
      t.equal(rowsOf(at('b.out'))[0]?.credential, own);
      t.test('the same command again does the rest', async (t) => {
        const mended = input.replace('"123","model":1', `"${deviceIdOf(12)}"`);
        const before = rowsOf(at('b.out'));
        const again = await lapel(`${line} --json`, { input: mended });
        t.match(JSON.parse(again.stdout), { lines: 6, registered: 1, skipped: 2, failed: 3 });
        t.same(rowsOf(at('b.out')).slice(0, 2), before);
        t.equal(rowsOf(at('b.out'))[2]?.deviceId, deviceIdOf(12));
      });
    },
  );

  t.test('a broken connection is opened again: every line is done, with the credential in the output', async (t) => {
    writeFileSync(at('c.csv'), csvOf(100, 1500));
    breaks = 3;
    afterLines = 300;
    const before = await total();
    const { code, stderr } = await lapel(`${at('c.csv')} --developer dev --output ${at('c.out')}`, { url: broken });
    t.equal(code, 0, stderr);
    t.equal(stderr.match(/the connection broke \(.*\); trying again/g)?.length, 3);
    t.equal(await total(), before + 1500);
    const rows = rowsOf(at('c.out'));
    t.equal(new Set(rows.map(({ deviceId }) => deviceId)).size, 1500);
    for (const row of [rows[0]!, rows[299]!, rows[700]!, rows[1499]!]) await world.connect(row);
  });

  t.test('a run that was interrupted can be continued: nothing is done twice or lost', async (t) => {
    writeFileSync(at('d.csv'), csvOf(3000, 1000));
    const line = `${at('d.csv')} --developer dev --output ${at('d.out')} --json`;
    breaks = 1000;
    afterLines = 201;
    afterLinesThen = 0;
    const before = await total();
    const failed = await lapel(line, { url: broken });
    t.match(failed, { code: 1, stderr: /stopped; run the same command again to continue[\s\S]*nobody answers at/ });
    breaks = 0;
    t.match(readFileSync(at('d.out'), 'utf8'), /^\{"unfinished":/);
    const controller = new AbortController();
    const interrupted = await lapel(line, {
      interrupted: controller.signal,
      tty: true,
      onWrite: (text) => text.includes('continuing') && controller.abort(),
    });
    t.match(interrupted, { code: 130, stderr: /Stopped: .*\nRun the same command again to continue/ });
    // A run that is killed in the middle of a write leaves half a line behind.
    writeFileSync(at('d.out'), `${readFileSync(at('d.out'), 'utf8')}{"deviceId":"350`);
    const last = await lapel(line);
    t.equal(last.code, 0, last.stderr);
    t.match(JSON.parse(last.stdout), { lines: 1000, failed: 0 });
    t.equal(await total(), before + 1000);
    const rows = rowsOf(at('d.out'));
    t.equal(new Set(rows.map(({ deviceId }) => deviceId)).size, 1000);
    for (const row of [rows[0]!, rows[350]!, rows[999]!]) await world.connect(row);
    const again = await lapel(line);
    t.match(JSON.parse(again.stdout), { registered: 0, skipped: 1000 });
    t.same(rowsOf(at('d.out')), rows);
  });

  t.test('on a terminal a bar shows how far it is', async (t) => {
    writeFileSync(at('e.csv'), csvOf(5000, 900));
    let time = 0;
    const { code, stderr } = await lapel(`${at('e.csv')} --developer dev --output ${at('e.out')}`, {
      tty: true,
      now: () => (time += 20),
    });
    t.equal(code, 0);
    t.match(stderr, /importing {2}\[#+ *\] +\d+ % {2}[\d,]+ lines, [\d,]+\/s, .* left/);
  });

  t.test('an impossible import is reported before anything is sent', async (t) => {
    writeFileSync(at('devices.txt'), '');
    writeFileSync(at('other'), 'my diary\n');
    const cases: [string, RegExp][] = [
      [at('a.csv'), /^lapel: --developer: is needed/],
      [`${at('a.csv')} --developer dev`, /^lapel: --output: is needed/],
      [`${at('devices.txt')} --developer dev --output ${at('x')}`, /^lapel: --format: is needed/],
      [`${at('none.csv')} --developer dev --output ${at('x')}`, /none\.csv: there is no such file/],
      [`${at('a.csv')} --developer dev --output ${at('other')}`, /^lapel: --output: .* is not the output of an import/],
      [`${at('a.csv')} --developer dev --output ${folder}`, /^lapel: --output: .* is not a file/],
      [`${at('a.csv')} --format xml --developer dev --output ${at('x')}`, /"xml" is not one of ndjson, csv/],
    ];
    for (const [line, words] of cases) t.match(await lapel(line), { code: 2, stderr: words }, line);
    t.equal(readFileSync(at('other'), 'utf8'), 'my diary\n');
    const nobody = await lapel(`${at('a.csv')} --developer nobody --output ${at('f.out')}`);
    t.match(nobody, { code: 1, stderr: /404 developer not found\.[\s\S]*lapel admin developer list/ });
    const output = await openImportOutput(at('g.out'), 'dev');
    await output.write([{ deviceId: deviceIdOf(1), credential: 'c' }]);
    await output.close();
    const foreign = await lapel(`${at('a.csv')} --developer rival --output ${at('g.out')}`);
    t.match(foreign, { code: 2, stderr: /g\.out belongs to an import for the developer dev/ });
  });
});

t.test('the output has the outcome for each device, however the run ended', async (t) => {
  const path = join(t.testdir(), 'out');
  const row = (number: number): Row => ({ deviceId: deviceIdOf(number), credential: `credential ${number}` });
  const first = await openImportOutput(path, 'dev');
  await first.write([1, 2, 3, 4].map(row));
  first.settle(1, false);
  first.settle(2, true);
  await first.flush();
  first.settle(3, true); // and its outcome was never stored
  await first.close();
  writeFileSync(path, `${readFileSync(path, 'utf8')}{"answ`);

  const second = await openImportOutput(path, 'dev');
  t.equal(second.registeredBefore, 1);
  const found = (output: typeof first) => [1, 2, 3, 4, 5].map((number) => output.find(deviceIdOf(number)));
  const open = (number: number) => ({ ...row(number), row: number });
  t.same(found(second), [open(1), 'registered', open(3), open(4), undefined]);
  const [late] = await second.write([row(5)]);
  t.equal(late?.row, 5);
  second.settle(5, true); // before older ones
  second.settle(1, true);
  second.settle(3, true);
  second.settle(4, false);
  await second.flush();
  await second.close();

  const third = await openImportOutput(path, 'dev');
  t.same(found(third), ['registered', 'registered', 'registered', open(4), 'registered']);
  await third.finish();
  t.same(rowsOf(path), [1, 2, 3, 5].map(row));
  const fourth = await openImportOutput(path, 'another, which a finished one does not say');
  t.same(found(fourth), ['registered', 'registered', 'registered', undefined, 'registered']);
  await fourth.close();
  await t.rejects(fourth.write([row(6)]), { message: /^cannot write .*out: / });
  await t.rejects(fourth.write([row(7)]), { message: /^cannot write/ }, 'and nothing after it');
});
