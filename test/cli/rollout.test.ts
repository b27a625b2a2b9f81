import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

const ESC = '\u001b';

t.test('lapel rollout', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string, more: Parameters<typeof run>[1] = {}) => run(line.split(' '), { env, ...more });
  const started = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await lapel(`rollout start ${line} --json`);
    const { rolloutId, devices } = JSON.parse(stdout);
    t.equal(code, devices > 0 || line.includes('--continuous') ? 0 : 1, stderr);
    return rolloutId;
  };
  const read = async (rolloutId: string) => (await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body;
  const fileOf = (t: Test, content: unknown): string => {
    const file = join(t.testdir(), 'content.json');
    writeFileSync(file, JSON.stringify(content));
    return file;
  };

  await t.test('a dry run says what the rollout would be, and starts nothing', async (t) => {
    const rollouts = async () => (await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts.length;
    const found = await lapel('rollout start --language ja --all --dry-run --abort 10');
    t.match(found, {
      code: 0,
      stdout: /^1 device, 1 of them connected\nstages of 1 devices\nat most 100 devices at a time/,
    });
    t.match(found.stdout, /warning: The abort rule can never stop it/);
    const json = JSON.parse((await lapel('rollout start --language ja --all --dry-run --json')).stdout);
    t.match(json, { ok: true, devices: 1, connected: 1, stages: [1] });
    const nobody = await lapel('rollout start --language ja --tag no=such --dry-run');
    t.match(nobody, { code: 1, stderr: /no device matches/ });
    t.equal(await rollouts(), 0);
  });

  await t.test('without a selection a terminal is asked for the number of devices', async (t) => {
    const wrong = await lapel('rollout start --language ja', { answers: ['2'] });
    t.match(wrong, { code: 1, stderr: /Start it for 1 device\. Type 1 to confirm|the number was not confirmed/ });
    t.match(await lapel('rollout start --language ja'), { code: 2, stderr: /--all: is needed/ });
    t.equal((await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts.length, 0);
    const right = await lapel('rollout start --language ja --start-at 2199-01-01T00:00:00Z', { answers: ['1'] });
    t.match(right, { code: 0, stdout: /^rol_[0-9a-f]{32} for 1 device/ });
    const [{ rolloutId }] = (await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts;
    await tenant.api.delete(`${tenant.path}/rollouts/${rolloutId}`);
  });

  await t.test('options make the request', async (t) => {
    const rolloutId = await started(
      '--language ja-JP --tag site=osaka --tag site=kyoto --tag !old --percent 50 --salt x --stage 10% --stage 5 --succeeded 95 --soak 60 --approval --rate 60 --abort 10 --after 20 --expire-in 2h --label night',
    );
    t.match(await read(rolloutId), {
      operation: 'setLanguage',
      subject: 'ja-JP',
      label: 'night',
      selector: { tags: { site: ['osaka', 'kyoto'], old: null }, percent: 50, salt: 'x' },
      rules: { ratePerMinute: 60, abort: { failedPercent: 10, minimumResults: 20 }, expireIn: 7200 },
      stages: [{ continueWhen: { succeededPercent: 95, soakFor: 60 }, approval: true }, { approval: true }],
    });
    const other = await started(
      '--language de --percent 0 --stage 10% --succeeded 90 --soak 1h --window 22:00-05:00 --time-zone Asia/Tokyo --day mon --day sat --retry NO_ANSWER --retry DOWNLOAD_FAILED --attempts 3 --retry-after 10m --abort 5 --abort-code BROKEN --continuous --prefer-connected --supersede --start-at 2199-11-20T22:00:00Z --health silent=10 --health events:custom.crash,custom.hang=2x --health-after 5',
    );
    const { rules, stages, state } = await read(other);
    t.equal(state, 'scheduled');
    t.match(stages, [{ continueWhen: { succeededPercent: 90, soakFor: 3600 } }]);
    t.same(rules, {
      window: { from: '22:00', to: '05:00', timeZone: 'Asia/Tokyo', days: ['mon', 'sat'] },
      retry: { codes: ['NO_ANSWER', 'DOWNLOAD_FAILED'], attempts: 3, after: 600 },
      abort: { failedPercent: 5, minimumResults: 10, codes: ['BROKEN'] },
      maxUnfinished: 100,
      startAt: '2199-11-20T22:00:00.000000Z',
      health: [
        { measure: 'silent', atMost: 10, minimumDevices: 5 },
        { measure: 'events', types: ['custom.crash', 'custom.hang'], timesControl: 2, minimumDevices: 5 },
      ],
      continuous: true,
      preferConnected: true,
      supersede: true,
    });
    const file = fileOf(t, { operation: 'setLanguage', parameters: { lang: 'de' }, devices: { percent: 0 } });
    t.match(await read(await started(`--file ${file} --label other`)), { subject: 'de', label: 'other', devices: 0 });
  });

  await t.test('each operation has an option', async (t) => {
    const wifi = fileOf(t, [{ ssid: 'office', security: 'OPEN' }]);
    for (const [line, expected] of [
      ['--bluetooth off', { operation: 'setConnectivityState' }],
      [`--wifi ${wifi} --revert-after 5m`, { operation: 'setWifi', rules: { revertAfter: 300 } }],
    ] as const)
      t.match(await read(await started(`${line} --percent 0`)), expected);
    const apn = fileOf(t, [{ name: 'Office', apn: 'internet.example', mcc: '440', mnc: '10' }]);
    t.match(await read(await started(`--apn ${apn} --percent 0`)), { operation: 'setApn' });
    const firmware = await lapel('rollout start --firmware com.a.firmware@9.2.0 --all');
    t.match(
      firmware,
      { code: 1, stderr: /cannot start the rollout: 400 firmware not found/ },
      'the service looks for the version',
    );
  });

  await t.test('a wrong option is named before anything is sent', async (t) => {
    for (const [line, text] of [
      ['start', /--install: is needed/],
      ['start --language ja', /--all: is needed to start it for the whole fleet/],
      ['start --language ja --all --tag ring=new', /--all: selects all devices/],
      ['start --language ja --install com.a.x@1', /--language: give only one of --install, .* and --apn/],
      ['start --install com.a.x', /"com.a.x" is not PACKAGE@VERSION/],
      ['start --bluetooth yes', /"yes" is not one of on, off/],
      ['start --language ja --tag site', /"site" is no term/],
      ['start --language ja --soak 5', /--soak: needs --succeeded/],
      ['start --language ja --succeeded 5', /--stage: is needed/],
      ['start --language ja --after 5', /--after: needs --abort/],
      ['start --language ja --abort-code A', /--abort-code: needs --abort/],
      ['start --language ja --attempts 2', /--attempts: needs --retry/],
      ['start --language ja --retry-after 2', /--retry-after: needs --retry/],
      ['start --language ja --day mon', /--day: needs --window/],
      ['start --language ja --window 22:00-05:00', /--window: needs --time-zone/],
      ['start --language ja --window night --time-zone UTC', /"night" is no window/],
      ['start --language ja --stage many', /"many" is not a whole number/],
      ['start --language ja --timeout soon', /"soon" is not a number of seconds/],
      ['start --language ja --all --wait --continuous', /--wait: a continuous rollout never completes/],
      ['start --language ja --all --health warm=2', /--health: is a measure and its limit/],
      ['start --language ja --all --auto-revert', /--auto-revert: needs --health/],
      ['start --language ja --all --health-after 5', /--health-after: needs --health/],
      ['change rol_1 --no-health --health silent=5', /--no-health: cannot be combined/],
      ['devices rol_1 --code BROKEN', /--code: needs --state/],
      ['devices rol_1 --limit -1', /--limit: "-1" is not a whole number/],
      ['list --limit 1.5', /--limit: "1.5" is not a whole number/],
      ['change rol_1', /--rate: is needed, or another change/],
      ['change rol_1 --no-label --label x', /--no-label: cannot be combined with --label/],
    ] as const)
      t.match(await lapel(`rollout ${line}`), { code: 2, stderr: text }, line);
    t.match(await lapel('admin rollout devices rol_1 --code BROKEN --token x'), {
      code: 2,
      stderr: /--code: needs --state/,
    });
    t.match(
      (await lapel('rollout start --language ja --all --stage 60% --stage 60%')).stderr,
      /stages/,
      'the service names its own',
    );
  });

  await t.test('watch follows it to its end, and its exit code says how it ended', async (t) => {
    const rolloutId = await started(`--language fr --device ${device.deviceId}`);
    const { transactionId } = await device.link.command(); // before it, no stage has begun
    const looked = Promise.withResolvers<void>();
    const watched = lapel(`rollout watch ${rolloutId}`, {
      onWrite: (text) => text.includes('running') && looked.resolve(),
    });
    await looked.promise; // otherwise the first look can come after the end
    await device.link.ack({ transactionId, status: 'succeeded' });
    const { code, stdout, stderr } = await watched;
    t.equal(code, 0, stderr);
    t.match(stderr, /running, stage 1 of 1/);
    t.match(stdout, /completed\nstage 1 of 1 .* 100 % {2}1 of 1 \(100 %\)\n {2}1 succeeded\n/);

    const failing = lapel('rollout start --language es --all --abort 100 --after 1 --wait');
    const { transactionId: other } = await device.link.command();
    await device.link.ack({ transactionId: other, status: 'failed', error: { code: 'BROKEN', message: '' } });
    const paused = await failing;
    t.equal(paused.code, 1);
    t.match(
      paused.stderr,
      /is paused \(ABORT_RULE\); to bring its devices back: lapel rollout revert rol_\w+; to let it go on: lapel rollout resume rol_/,
    );
    t.match(paused.stderr, `devices have failed BROKEN: 1 device, for example ${device.deviceId}\n`);
  });

  await t.test('it says so when the abort rule needs more results than there are devices', async (t) => {
    const line = 'rollout start --language it --all --start-at 2199-01-01T00:00:00Z --abort 10';
    const { code, stdout, stderr } = await lapel(`${line} --json`);
    t.match({ code, ok: JSON.parse(stdout).ok }, { code: 0, ok: true });
    t.equal(
      stderr,
      'note: the abort rule needs 10 results, and the rollout has 1 device: it cannot pause the rollout (--after 1 can)\n',
    );
    const acting = await lapel(`${line} --after 1`);
    t.match(acting, { code: 0, stderr: /^(Rollout rol_\w+ is \w+ and changes the same on 1 of the devices\.\n)*$/ });
  });

  await t.test('it waits no longer than --timeout', async (t) => {
    let seconds = 0;
    const now = () => {
      seconds += 1;
      return 1000 * seconds;
    };
    const begun = await lapel('rollout start --language pt --all --start-at 2199-01-01T00:00:00Z --timeout 5 --json', {
      now,
    });
    const { ok, rolloutId, state } = JSON.parse(begun.stdout);
    t.match({ code: begun.code, ok, state }, { code: 1, ok: false, state: 'scheduled' });
    t.match(begun.stderr, `lapel: rollout ${rolloutId} is scheduled; it goes on: lapel rollout watch ${rolloutId}\n`);
    t.match(await lapel(`rollout watch ${rolloutId} --timeout 2`, { now }), { code: 1, stderr: /it goes on/ });
    await lapel(`rollout cancel ${rolloutId}`);
    t.match(await lapel(`rollout watch ${rolloutId}`), { code: 1, stderr: /is cancelled\n$/ });
  });

  await t.test('a start whose answer is lost makes one rollout', async (t) => {
    const { origin } = new URL(env.LAPEL_URL);
    let lost = 0;
    const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const { method = '', headers, url } = request;
      const { host: _, connection: __, 'content-length': ___, ...kept } = headers as Record<string, string>;
      const body = method === 'POST' ? { body: Buffer.concat(chunks) } : {};
      const answer = await fetch(origin + url, { method, headers: kept, ...body });
      const text = await answer.text();
      if (url?.endsWith('/rollouts') && lost === 0) {
        lost += 1;
        request.socket.destroy();
      } else response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    };
    const proxy = createServer((request, response) => {
      forward(request, response).catch(() => response.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    t.teardown(() => proxy.close());
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const { code, stdout, stderr } = await lapel(
      `rollout start --language sv --all --start-at 2199-01-01T00:00:00Z --label once --url ${url} --json`,
    );
    t.equal(code, 0, stderr);
    t.equal(lost, 1);
    const { rollouts } = JSON.parse((await lapel('rollout list --limit 0 --json')).stdout);
    const labelled = rollouts.filter(({ label }: { label: string }) => label === 'once');
    t.same(
      labelled.map((one: { rolloutId: string }) => one.rolloutId),
      [JSON.parse(stdout).rolloutId],
    );
  });

  await t.test('lists, shows and changes rollouts', async (t) => {
    const listed = await lapel('rollout list --state paused');
    t.match(listed.stdout, /paused \(ABORT_RULE\) +1\/1 +1 +0 +1/);
    const [rolloutId] = JSON.parse((await lapel('rollout list --state paused --json')).stdout).rollouts.map(
      (one: { rolloutId: string }) => one.rolloutId,
    );
    const shown = (await lapel(`rollout show ${rolloutId}`)).stdout;
    t.match(shown, /failed BROKEN: 1 device, for example/);
    t.match(shown, /paused \(stage 1\) by service: ABORT_RULE/);
    t.match((await lapel(`rollout results ${rolloutId}`)).stdout, /SUCCEEDED +FAILED\n.* 0 +1\nA row is about 1 s\./);
    t.match(
      (await lapel(`rollout devices ${rolloutId} --state failed`)).stdout,
      new RegExp(`${device.deviceId}.*BROKEN`),
    );
    t.match((await lapel(`rollout approve ${rolloutId}`)).stderr, /its present stage asks for no approval/);
    t.match((await lapel(`rollout approve ${rolloutId} --stage 2`)).stderr, /the rollout is paused, in stage 1/);

    const changed = async (line: string) => (await lapel(`rollout change ${rolloutId} ${line}`)).stdout;
    t.match(await changed('--rate 5 --abort 50 --abort-code BROKEN --label next'), /\nlabel +next\n/);
    const window = '--window 22:00-05:00 --time-zone Asia/Tokyo';
    t.match(JSON.parse(await changed(`--abort 60 ${window} --json`)), {
      ok: true,
      label: 'next',
      rules: {
        ratePerMinute: 5,
        abort: { failedPercent: 60, minimumResults: 1, codes: ['BROKEN'] },
        window: { timeZone: 'Asia/Tokyo' },
      },
    });
    const { rules, label } = JSON.parse(
      await changed('--no-rate --no-at-a-time --no-abort --no-window --no-label --json'),
    );
    t.same({ rules, label }, { rules: {}, label: null });
    t.match(await lapel(`rollout change ${rolloutId} --abort 0`), { code: 1, stderr: /body\.abort\.failedPercent/ });

    t.match((await lapel(`rollout retry ${rolloutId} --code BROKEN`)).stdout, /1 device of .* waits for another/);
    t.match((await lapel(`rollout resume ${rolloutId}`)).stdout, /is running/);
    await device.link.command();
    t.match(await lapel(`rollout change ${rolloutId} --rate 5`), { code: 1, stderr: /the rollout is running/ });
    t.match((await lapel(`rollout pause ${rolloutId}`)).stdout, /is paused \(REQUESTED\)/);
    t.match((await lapel(`rollout cancel ${rolloutId}`)).stdout, /is cancelled/);
    const again = await lapel(`rollout pause ${rolloutId}`);
    t.equal(again.code, 1);
    t.match(again.stderr, /the rollout is cancelled/);
  });

  await t.test('brings devices back', async (t) => {
    const rolloutId = await started(`--language nl --device ${device.deviceId}`);
    let command = await device.link.command();
    while ((command.parameters as { lang?: string }).lang !== 'nl') command = await device.link.command();
    await device.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    await world.idle();
    const wrong = await lapel(`rollout revert ${rolloutId} --version 1.0.0`);
    t.match(wrong, { code: 1, stderr: /body\.version/ });
    const { code, stdout, stderr } = await lapel(`rollout revert ${rolloutId} --failed --label back --rate 60`);
    t.equal(code, 0, stderr);
    const [, id] = /^(rol_\w+) brings 1 device of rol_\w+ back\n$/.exec(stdout) ?? [];
    t.match(await read(id!), { label: 'back', reverts: rolloutId, rules: { ratePerMinute: 60 } });
    t.match((await device.link.command()).parameters, { lang: 'fr' });
    t.match(await lapel(`rollout revert ${rolloutId} --json`), { code: 1, stdout: /the rollout is reverted by rol_/ });
  });

  await t.test('--limit bounds the rows, and 0 means all', async (t) => {
    const rows = async (line: string): Promise<number> => JSON.parse((await lapel(`${line} --json`)).stdout).total;
    t.equal(await rows('rollout list --limit 2'), 2);
    t.ok((await rows('rollout list --limit 0')) > 5);
    const rolloutId = await started('--language it --all --start-at 2199-01-01T00:00:00Z');
    t.equal(await rows(`rollout devices ${rolloutId} --limit 0`), 1);
    const admin = `--admin-url ${world.service.addresses.admin} --token ${world.service.adminToken}`;
    t.equal(await rows(`admin rollout list --limit 0 ${admin}`), await rows('rollout list --limit 0'));
    await lapel(`rollout cancel ${rolloutId}`);
  });

  await t.test('what devices and tenants chose cannot steer a terminal', async (t) => {
    const code = 'A\u001b[2J\u202e\u009b1m\nB';
    const label = 'L\u001b]0;x\u0007\u202e\u200b';
    // The screen itself moves the cursor up, and clears to the end.
    const own = Array.from({ length: 30 }, (_, lines) => `${ESC}[${lines}A\r${ESC}[J`);
    const isClean = (text: string): boolean =>
      !/[\p{Cc}\p{Cf}]/v.test(own.reduce((rest, move) => rest.replaceAll(move, ''), text).replaceAll('\n', ''));
    /** The next command that is no cancel. */
    async function ordered() {
      for (;;) {
        const command = await device.link.command();
        if (command.operation !== 'cancel') return command;
      }
    }
    const body = {
      label,
      operation: 'setLanguage',
      parameters: { lang: 'ko' },
      devices: {},
      abort: { failedPercent: 1, minimumResults: 1 },
    };
    const { rolloutId } = (await tenant.api.post(`${tenant.path}/rollouts`, { json: body })).body;
    const watched = [false, true].map((tty) => lapel(`rollout watch ${rolloutId}`, { tty }));
    const { transactionId } = await ordered();
    await device.link.ack({ transactionId, status: 'failed', error: { code, message: `m${code}` } });
    const outputs = await Promise.all([
      ...watched,
      ...[false, true].flatMap((tty) =>
        [
          `rollout show ${rolloutId}`,
          'rollout list',
          `rollout devices ${rolloutId}`,
          `rollout devices ${rolloutId} --json`,
          `device transactions ${device.deviceId}`,
          `device transactions ${device.deviceId} ${transactionId}`,
        ].map((line) => lapel(line, { tty })),
      ),
    ]);
    for (const { stdout, stderr } of outputs) t.ok(isClean(stdout + stderr), JSON.stringify(stdout + stderr));
    t.match(outputs[0]?.stderr, 'devices have failed A\\u{1b}[2J\\u{202e}\\u{9b}1m B: 1 device');
    t.equal(JSON.parse(outputs[5]?.stdout ?? '').devices[0].code, (await read(rolloutId)).errors[0].code);

    const waited = lapel(`device language ${device.deviceId} ko --wait`);
    const { transactionId: other } = await ordered();
    await device.link.ack({ transactionId: other, status: 'failed', error: { code, message: `m${code}` } });
    const { stdout, stderr } = await waited;
    t.match(stderr, 'failed: A\\u{1b}[2J');
    t.ok(isClean(stdout + stderr));
    await lapel(`device tag ${device.deviceId} site=${label}`);
    t.ok(isClean((await lapel(`device tag ${device.deviceId}`)).stdout));
    t.ok(isClean((await lapel('device list --tag site')).stderr + (await lapel('device list')).stdout));
    t.ok(isClean((await lapel(`rollout show rol_\u001b[2J`)).stderr));
    const admin = `--admin-url ${world.service.addresses.admin} --token ${world.service.adminToken}`;
    const cancelled = await lapel(`admin rollout cancel ${rolloutId} ${admin}`);
    t.match(
      cancelled.stdout,
      /\nstage 1 of 1 .*\n {2}1 failed\n.*History .*\n.* cancelled \(stage 1\) by administration\n/s,
    );
    t.ok(isClean(cancelled.stdout));
  });
});
