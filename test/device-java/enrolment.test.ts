import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t, { type Test } from 'tap';
import { skip as withoutOpenssl } from '../broker/authority.ts';
import { startEnrolment } from '../enrolment/enrolment-world.ts';
import { startIssuing } from '../enrolment/issuing-world.ts';
import { missing } from '../installed.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { compiled } from './java.ts';

type Told = Record<string, unknown>;

const place = (url: string): string[] => [new URL(url).hostname, new URL(url).port];

/** Starts the program that enrols; it ends with the test. */
function start(t: Test, classes: string, given: readonly string[]) {
  const told: Told[] = [];
  let errors = '';
  const child = spawn('java', ['-cp', classes, 'lapel.device.Enrolling', ...given]);
  t.teardown(() => child.kill('SIGKILL'));
  child.stderr.on('data', (chunk) => (errors += String(chunk)));
  createInterface({ input: child.stdout }).on('line', (line) => told.push(JSON.parse(line)));
  return {
    told,
    of: (name: string): unknown[] => told.filter((line) => name in line).map((line) => line[name]),
    /** A line on its standard input. */
    next: (): void => void child.stdin.write('\n'),
    async stop(): Promise<string> {
      const closed = once(child, 'close');
      child.stdin.end();
      await closed;
      return errors;
    },
  };
}

t.test('a device in Java enrols, and renews its certificate', { skip: missing.java() || withoutOpenssl }, async (t) => {
  const issuing = await startIssuing(t, { isHttps: true, env: { LAPEL_ENROLMENT_CERTIFICATES: 'true' } });
  const { world, batch, makeAuthority, caFile, admin } = issuing;
  const classes = await compiled();
  const { authorityId } = await makeAuthority();
  const { http, mqtts = '' } = world.service.addresses;

  for (const [index, kind] of ['EC', 'RSA'].entries()) {
    await t.test(`with a key of ${kind}`, async (t) => {
      const deviceId = deviceIdOf(7000 + index);
      const { code } = await batch({ authorityId, certificateDays: 30 });
      const file = join(t.testdir(), 'file');
      const device = start(t, classes, [http, ...place(mqtts), deviceId, file, code, kind, caFile]);
      await until(() => world.service.isConnected(deviceId));
      t.same(device.of('isDue'), [false], 'more than a third of its time is left');
      device.next();
      await until(() => device.of('isGood').length > 0);
      t.same(device.of('isGood'), [true], 'the login with the next one has succeeded');
      await until(() => world.service.isConnected(deviceId) && device.of('connected').at(-1) === true);
      const [first, second] = device.of('certificate');
      t.not(first, second);
      t.equal(await device.stop(), '');
      t.same(device.of('setting'), [{ certificate: second }], 'nonce and former certificate are forgotten');
      t.match((await admin.get(`/admin/v1/devices/${deviceId}`)).body, { offeredCertificate: null });
    });
  }
});

t.test('a device in Java gets a credential for the code of its batch', { skip: missing.java() }, async (t) => {
  const folder = t.testdir({ data: {} });
  const classes = await compiled();
  const world = await startWorld(t, { dataDir: join(folder, 'data') });
  const { batch } = await startEnrolment(world);
  const { http, mqtt } = world.service.addresses;
  const deviceId = deviceIdOf(7010);
  const { code } = await batch();
  const file = join(folder, 'file');
  const given = [http, ...place(mqtt), deviceId, file, code];
  const first = start(t, classes, given);
  await until(() => first.of('connected').includes(true));
  t.equal(await first.stop(), '');
  const [setting] = first.of('setting') as Told[];
  t.same(Object.keys(setting ?? {}), ['credential'], 'its nonce is forgotten');
  await until(() => !world.service.isConnected(deviceId));
  const second = start(t, classes, given);
  await until(() => second.of('connected').includes(true));
  second.next();
  await until(() => second.of('isGood').length > 0);
  t.same(second.of('isGood'), [false], 'another credential is refused');
  await until(() => second.of('connected').at(-1) === true);
  t.same(second.of('connected'), [true, false, true], 'and the former one is used again');
  await second.stop();
  t.same(second.of('setting'), [setting], 'after a restart it has the same one');
});
