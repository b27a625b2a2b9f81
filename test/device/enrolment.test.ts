import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Device, type DeviceOptions, type Login } from '@lapel/device';
import { enrol } from '@lapel/device/enrolment/enrol';
import { keepCertificate } from '@lapel/device/enrolment/renewal';
import { StoredLogins } from '@lapel/device/enrolment/stored-logins';
import t, { type Test } from 'tap';
import { createAuthority, skip } from '../broker/authority.ts';
import { handTimers } from '../device-sim/hand-timers.ts';
import { startEnrolment } from '../enrolment/enrolment-world.ts';
import { startIssuing } from '../enrolment/issuing-world.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld } from '../world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Settings in memory. */
function createStore(entries: Record<string, unknown> = {}) {
  const settings = new Map(Object.entries(entries));
  return {
    settings,
    setting: (name: string) => settings.get(name),
    set(name: string, value: unknown): void {
      if (value === null) settings.delete(name);
      else settings.set(name, value);
    },
  };
}

/** Makes devices that end with the test. */
function makerOf(t: Test) {
  const made: Device[] = [];
  t.teardown(() => {
    for (const device of made) device.stop();
  });
  return (options: DeviceOptions, onConnection: (isConnected: boolean) => void = () => {}): Device => {
    const device = new Device(options, { operations: {}, log: () => {}, connection: onConnection });
    made.push(device);
    return device;
  };
}

/** A service that gives these answers, one after another, and the parts of a device that waits for nothing. */
async function startAnswers(t: Test, answers: [number, object, Record<string, string>?][]) {
  const asked: Record<string, unknown>[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => (text += String(part)));
    request.on('end', () => {
      asked.push(JSON.parse(text));
      const [status, body, headers] = answers.shift()!;
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const store = createStore();
  const pauses: number[] = [];
  const parts = {
    deviceId: '490154203237518',
    store,
    timers: {
      after(milliseconds: number, task: () => void) {
        pauses.push(milliseconds);
        setImmediate(task);
        return () => {};
      },
    },
    random: () => 0,
    signal: new AbortController().signal,
    log: () => {},
  };
  const api = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { api, parts, pauses, asked, store };
}

t.test(
  'a device asks until it has its credential, with one nonce, and with the pauses that the answers want',
  async (t) => {
    const answers: [number, object, Record<string, string>?][] = [
      [503, {}],
      [202, { state: 'pending' }, { 'retry-after': '7' }],
      [429, {}, { 'retry-after': '9' }],
      [403, {}],
      [201, { credential: 'the credential' }],
    ];
    const { api, parts, pauses, asked, store } = await startAnswers(t, answers);
    t.same(await enrol({ api, claim: { code: 'abc' } }, parts), { credential: 'the credential' });
    t.same(pauses, [2000, 7000, 9000, HOUR]);
    const nonce = store.setting('nonce');
    t.match(nonce, /^[A-Za-z0-9_-]{32}$/);
    t.same(asked, Array(5).fill({ deviceId: '490154203237518', code: 'abc', nonce }));
  },
);

t.test('an answer that makes no sense is no login, and the device asks again after a day at most', async (t) => {
  const answers: [number, object, Record<string, string>?][] = [
    [202, {}, { 'retry-after': '99999999999' }],
    [201, { certificate: 'not a certificate' }],
    [201, { certificate: 7 }],
    [201, { credential: '' }],
    [201, { credential: 'the credential' }],
  ];
  const { api, parts, pauses } = await startAnswers(t, answers);
  const login = await enrol({ api, claim: { code: 'abc' }, wantsCertificate: true }, parts);
  t.same(login, { credential: 'the credential' });
  t.same(pauses.slice(0, 1), [DAY]);
  t.equal(pauses.length, 4);
});

t.test(
  'a device from the factory enrols by the code of its batch, and forgets its nonce after its login',
  async (t) => {
    const folder = t.testdir({ data: {} });
    const world = await startWorld(t, { dataDir: join(folder, 'data') });
    const { batch } = await startEnrolment(world);
    const { code } = await batch();
    const make = makerOf(t);
    const { http: api, mqtt: url } = world.service.addresses;
    const options = { deviceId: deviceIdOf(1), file: join(folder, 'device'), service: { url } };
    t.throws(() => make({ ...options, file: join(folder, 'other') }).start(), /needs a credential/);
    const first = make({ ...options, enrolment: { api, claim: { code } } });
    first.start();
    await until(() => world.service.isConnected(options.deviceId));
    await until(() => first.settings.get('nonce') === undefined);
    t.type(first.settings.get<{ credential: string }>('login')?.credential, 'string');
    first.stop();
    await until(() => !world.service.isConnected(options.deviceId));
    make(options).start();
    await until(() => world.service.isConnected(options.deviceId));
  },
);

t.test('a new credential takes the place of the old one when its login has succeeded', async (t) => {
  const folder = t.testdir({ data: {} });
  const world = await startWorld(t, { dataDir: join(folder, 'data') });
  await world.createTenant();
  const { deviceId, credential } = await world.registerDevice();
  const make = makerOf(t);
  const file = join(folder, 'device');
  let connections = 0;
  const options = { deviceId, file, service: { url: world.service.addresses.mqtt }, login: { credential } };
  const device = make(options, (isConnected) => {
    if (isConnected) connections += 1;
  });
  device.start();
  await until(() => connections === 1);
  device.useLogin({ credential: 'a wrong one' });
  await until(() => connections === 2);
  t.match(device.settings.get('nextLogin'), { credential: 'a wrong one' }, 'it goes on with the old one');
  t.equal(device.settings.get('login'), undefined);
});

t.test('of several logins the next one is tried first, and after a refusal the former one', async (t) => {
  const store = createStore({ login: { credential: 'stored' } });
  const logins = new StoredLogins(store, { credential: 'of the maker' });
  const isNow = (credential: string): void => void t.same(logins.current, { credential });
  isNow('stored');
  logins.refused();
  isNow('of the maker');
  logins.add({ credential: 'new' });
  isNow('new');
  logins.refused();
  isNow('stored');
  logins.succeeded();
  t.same(store.settings.get('nextLogin'), { credential: 'new' }, 'kept beside the old one');
  logins.refused();
  logins.refused();
  isNow('new');
  logins.succeeded();
  t.same(Object.fromEntries(store.settings), { login: { credential: 'new' } });
});

t.test('a device gets a certificate, and renews it when a third of its time is left', { skip }, async (t) => {
  const issuing = await startIssuing(t, { isHttps: true, env: { LAPEL_ENROLMENT_CERTIFICATES: 'true' } });
  const { world, batch, makeAuthority, login, tls } = issuing;
  const { http: api, mqtts: url = '' } = world.service.addresses;
  const ca = issuing.ca.toString();
  const { authorityId } = await makeAuthority();
  const expiresAt = new Date(world.clock.now() / 1000 + 10 * DAY).toISOString();
  const file = join(tls, 'device');
  const make = makerOf(t);
  const deviceId = deviceIdOf(1);

  await t.test('by the code of its batch, for a key of its own', async (t) => {
    const { code } = await batch({ authorityId, expiresAt, certificateDays: 1 });
    const device = make({
      deviceId,
      file,
      service: { url, ca },
      enrolment: { api, claim: { code }, wantsCertificate: true, ca },
    });
    device.start();
    await until(() => world.service.isConnected(deviceId));
    await until(() => device.settings.get('login') !== undefined);
    t.match(device.settings.get('login'), { certificate: /BEGIN CERTIFICATE/, key: /BEGIN PRIVATE KEY/ });
    device.stop();
  });

  await t.test('and later another one, which is good after its first login', async (t) => {
    const device = make({ deviceId, file, service: { url, ca } });
    const first = device.settings.get<Login & { certificate: string; key: string }>('login')!;
    const timers = handTimers();
    const stopped = new AbortController();
    const renewed: Login[] = [];
    keepCertificate({
      deviceId,
      api,
      ca,
      current: () => first,
      renewed: (next) => void renewed.push(next),
      now: () => world.clock.now() / 1000,
      timers,
      signal: stopped.signal,
      log: (_level, text) => t.fail(text),
    });
    world.clock.advance((2 * DAY) / 3 + HOUR);
    await until(async () => {
      await timers.next();
      return renewed.length > 0;
    });
    stopped.abort();
    t.equal(
      (await login(deviceId, { cert: first.certificate, key: first.key })).code,
      0,
      'the first one is good still',
    );
    device.useLogin(renewed[0]!);
    device.start();
    await until(() => device.settings.get('nextLogin') === undefined);
    t.same(device.settings.get('login'), renewed[0]);
    device.stop();
    t.equal((await login(deviceId, { cert: first.certificate, key: first.key })).code, 4, 'the first one has ended');
  });

  await t.test('by the certificate that it came with', async () => {
    const shared = createAuthority(tls, 'line').own();
    const claim = { certificate: shared.cert.toString(), key: shared.key.toString() };
    const { batchId } = await batch({ authorityId, expiresAt, claimCertificate: claim.certificate });
    const other = deviceIdOf(2);
    const enrolment = { api, claim: { batchId, ...claim }, wantsCertificate: true, ca };
    make({ deviceId: other, file: join(tls, 'other'), service: { url, ca }, enrolment }).start();
    await until(() => world.service.isConnected(other));
  });
});
