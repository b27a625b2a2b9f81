import t from 'tap';
import { until } from '../until.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, WIFI } from '../world.ts';
import { run } from './run.ts';

const NOBODY = `ep_${'0'.repeat(32)}`;

t.test('lapel endpoint', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const receiver = await createTestReceiver(t);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string) => run(line.split(' '), { env, columns: 200 });
  const jsonOf = async (line: string) => JSON.parse((await lapel(`${line} --json`)).stdout);
  const added = async (line: string): Promise<string> => (await jsonOf(`endpoint add ${line}`)).endpointId;
  const stateOf = async (id: string, ...statuses: string[]): Promise<void> => {
    await until(async () => {
      const { deliveries } = await jsonOf(`endpoint deliveries ${id}`);
      return String(deliveries.map((one: { status: string }) => one.status)) === String(statuses);
    });
  };

  await t.test('add makes an endpoint, and warns that its secret is shown once', async (t) => {
    t.match(await lapel('endpoint list'), { code: 0, stdout: 'There are none.\n' });
    const terms = `--type transaction.* --type test --description billing --ordered --rate 50`;
    const { code, stdout, stderr } = await lapel(`endpoint add ${receiver.url} ${terms}`);
    t.equal(code, 0, stderr);
    const [, id = '', secret = ''] =
      /^endpointId +(ep_\S+)\nsecret +(whsec_\S+)\nThe secret is shown only now, and never again\./.exec(stdout) ?? [];
    t.not(secret, '', stdout);
    const shown = await lapel(`endpoint show ${id}`);
    t.notMatch(shown.stdout, secret);
    t.match(shown.stdout, /^description +billing$/m);
    t.match(shown.stdout, /^ordered +device$/m);
    t.match(shown.stdout, /^ratePerSecond +50$/m);
    t.match(shown.stdout, /^types +transaction\.\* test$/m);
    t.match(await lapel('endpoint list'), {
      stdout: new RegExp(
        `^ENDPOINT .*\n${id} +enabled +0 +0 +0 +${receiver.url}\\S* +transaction\\.\\* test +billing\n$`,
      ),
    });
    t.match(await jsonOf('endpoint list'), { endpoints: [{ endpointId: id }], settings: [{ setting: 'deviceEvent' }] });
    t.match(await lapel(`endpoint delete ${id}`), { code: 0, stdout: `deleted: ${id}\n` });
    t.match(await lapel(`endpoint show ${id}`), { code: 1, stderr: /404 endpoint not found/ });
  });

  await t.test('an endpoint with a key pair has a public key, and no secret', async (t) => {
    const { stdout } = await lapel(`endpoint add ${receiver.url} --signatures v1a`);
    const [, id, key = ''] =
      /^endpointId +(\S+)\npublicKey +(whpk_\S+)\nThe receiver verifies with the public key/.exec(stdout) ?? [];
    t.not(key, '', stdout);
    t.match((await lapel(`endpoint show ${id}`)).stdout, key);
    const other = await lapel(`endpoint secret ${id}`);
    t.match(other, { code: 0, stdout: /^publicKey +whpk_/m });
    t.match(
      (await lapel(`endpoint show ${id}`)).stdout,
      new RegExp(`^publicKey before +${key.replace(/[+/]/g, '.')}$`, 'm'),
    );
    const shared = await lapel(`endpoint secret ${id} --signatures v1`);
    t.match(shared, { code: 0, stdout: /^secret +whsec_\S+$[\s\S]*shown only now, and never again/m });
    await lapel(`endpoint delete ${id}`);
  });

  await t.test('change changes what is named, and takes terms away', async (t) => {
    const id = await added(`${receiver.url} --type test --description x --ordered --rate 5`);
    t.match(await lapel(`endpoint change ${id} --to ${receiver.url}other --no-rate --no-ordered`), {
      code: 0,
      stdout: /^ordered +none$/m,
    });
    t.match(await jsonOf(`endpoint show ${id}`), {
      url: `${receiver.url}other`,
      ordered: 'none',
      ratePerSecond: null,
      types: ['test'],
      description: 'x',
    });
    t.match(await jsonOf(`endpoint change ${id} --no-type --no-description --rate 7`), {
      types: [],
      description: '',
      ratePerSecond: 7,
    });
    const cases: [string, RegExp][] = [
      ['', /^lapel: --to: is needed, or another option/],
      [' --enable', /^lapel: --missed: is needed with --enable/],
      [' --missed skip', /^lapel: --missed: is only permitted with --enable/],
      [' --enable --disable', /^lapel: --disable: cannot be combined with --enable/],
      [' --rate 5 --no-rate', /^lapel: --no-rate: cannot be combined with --rate/],
      [' --rate many', /^lapel: --rate: "many" is not a whole number/],
    ];
    for (const [line, words] of cases)
      t.match(await lapel(`endpoint change ${id}${line}`), { code: 2, stderr: words }, line);
    t.match(await lapel(`endpoint change ${NOBODY} --no-rate`), { code: 1, stderr: /404 endpoint not found/ });
    await lapel(`endpoint delete ${id}`);
  });

  await t.test('a disabled endpoint gets its events when it is enabled, or never', async (t) => {
    const id = await added(`${receiver.url} --type transaction.*`);
    const event = async (): Promise<void> => {
      await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
      const { transactionId } = await device.link.command();
      await device.link.ack({ transactionId, status: 'succeeded' });
      await tenant.event();
    };
    t.match(await lapel(`endpoint change ${id} --disable`), { code: 0, stdout: /^disabledReason +asked$/m });
    t.match(await lapel(`endpoint test ${id}`), { code: 1, stderr: /409 the endpoint is disabled; enable it first/ });
    t.match(await lapel(`endpoint replay ${id}`), { code: 1, stderr: /409 the endpoint is disabled/ });
    await event();
    t.match(await lapel(`endpoint change ${id} --enable --missed skip`), { code: 0 });
    await lapel(`endpoint change ${id} --disable`);
    await event();
    t.match(await lapel(`endpoint change ${id} --enable --missed send`), { code: 0 });
    await stateOf(id, 'delivered');
    t.match((await lapel('endpoint list')).stdout, new RegExp(`^${id} +enabled +0 +0 +0 `, 'm'));

    const counted = await lapel(`endpoint replay ${id} --type transaction.* --device ${device.deviceId} --dry-run`);
    t.match(counted, { code: 0, stdout: 'events that would be sent again: 3\n' });
    const later = await jsonOf(`endpoint replay ${id} --since 2030-01-01 --until 2031-01-01T12:00Z --dry-run`);
    t.match(later, { ok: true, events: 0, replay: null });
    t.match(await lapel(`endpoint replay ${id} --after 0`), {
      code: 0,
      stdout: `events that are sent again: 3; see how far it is with lapel endpoint show ${id}\n`,
    });
    await stateOf(id, 'delivered', 'delivered', 'delivered');
    t.match(await lapel(`endpoint replay-cancel ${id}`), { code: 1, stderr: /404 no replay is running/ });
    t.match(await jsonOf(`endpoint deliveries ${id} --limit 2`), { total: 2 });
    t.match(await jsonOf(`endpoint deliveries ${id} --limit 0 --status delivered --device ${device.deviceId}`), {
      total: 3,
    });
    const both = { json: { since: '2026-11-20T00:00:00Z', after: 1 } };
    t.match(await tenant.api.post(`${tenant.path}/endpoints/${id}/replay`, both), {
      status: 400,
      body: { details: [{ loc: ['body', 'since'] }] },
    });
    t.match(await lapel(`endpoint replay ${id} --since 2026-11-20 --after 1`), {
      code: 2,
      stderr: /^lapel: --since: cannot be combined with --after/,
    });
    await lapel(`endpoint delete ${id}`);
  });

  await t.test('a delivery that waits is shown, and given up', async (t) => {
    const failing = await createTestReceiver(t);
    failing.answer({ status: 500 });
    const id = await added(`${failing.url} --type test`);
    t.match(await lapel(`endpoint test ${id}`), {
      code: 0,
      stdout: new RegExp(`^sent as msg_\\w+; see its state with lapel endpoint deliveries ${id} --limit 1\n$`),
    });
    await until(async () => (await jsonOf(`endpoint show ${id}`)).failingSince !== null);
    const list = await lapel(`endpoint deliveries ${id}`);
    const [, sequence] = /^SEQUENCE .*\n(\d+) +test +- +pending +- +1 +500 .*\n$/.exec(list.stdout) ?? [];
    t.not(sequence, undefined, list.stdout);
    t.match((await lapel('endpoint list')).stdout, new RegExp(`^${id} +failing +\\d +1 +0 `, 'm'));
    t.match(await lapel(`endpoint skip ${id} ${sequence}`), { code: 0, stdout: `skipped: ${sequence}\n` });
    t.match(await lapel(`endpoint skip ${id} ${sequence}`), { code: 1, stderr: /404 no such delivery waits/ });
    const faulty = await lapel(`endpoint skip ${id} first`);
    t.match(faulty, { code: 2, stderr: /^lapel: SEQUENCE: "first" is not a whole number/ });
    await stateOf(id, 'skipped');
    await lapel(`endpoint delete ${id}`);
  });

  await t.test('a replay that waits for an endpoint which is down is the only one, and is cancelled', async (t) => {
    const failing = await createTestReceiver(t);
    failing.answer({ status: 500 });
    const id = await added(failing.url);
    for (let sent = 0; sent < 5; sent += 1) await lapel(`endpoint test ${id}`);
    await until(async () => {
      const { after } = await jsonOf(`endpoint show ${id}`);
      const { deliveries } = await jsonOf(`endpoint deliveries ${id}`);
      // One that is down takes further events later.
      return after >= deliveries.at(-1).sequence && deliveries.every((one: { attempts: number }) => one.attempts > 0);
    });
    t.match(await lapel(`endpoint replay ${id}`), { code: 0 });
    const second = await lapel(`endpoint replay ${id}`);
    t.match(second, { code: 1, stderr: new RegExp(`409 a replay to the endpoint ${id} is running`) });
    t.match(await lapel(`endpoint show ${id}`), { stdout: /^replay +\{.*"events":0,/m });
    t.match(await lapel(`endpoint replay-cancel ${id}`), { code: 0, stdout: `replay cancelled: ${id}\n` });
    await lapel(`endpoint delete ${id}`);
  });
});
