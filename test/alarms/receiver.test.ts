import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Webhook } from 'standardwebhooks';
import t, { type Test } from 'tap';
import { readConfig } from '../../src/config.ts';
import { bodyOf } from '../../src/core/alarms/alarm-message.ts';
import { startWorld, type World } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KEY = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

interface Taken {
  body: string;
  headers: Record<string, string>;
}

/** A receiver of alarms. `status` is that of its answers, except of messages that `refuses` finds. */
async function startReceiver(t: Test) {
  const taken: Taken[] = [];
  const receiver = { taken, status: 204, refuses: /^$/, url: '' };
  const take = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(request);
    taken.push({ body, headers: request.headers as Record<string, string> });
    response.writeHead(receiver.refuses.test(body) ? 400 : receiver.status).end();
  };
  const server = createServer((request, response) => void take(request, response)).listen(0, '127.0.0.1');
  t.teardown(() => server.close());
  await new Promise<void>((resolve) => server.once('listening', resolve));
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/services/secret`;
  return receiver;
}

const pass = async (world: World, minutes: number): Promise<void> => {
  for (let minute = 0; minute < minutes; minute += 1) {
    world.clock.advance(MINUTE);
    await world.idle();
  }
};
/** The messages about one kind of alarm; the disk of the machine of the test may be full. */
const ofKind = (taken: readonly Taken[], kind: string): string[] =>
  taken
    .map(({ body }) => JSON.parse(body) as { type: string; data: { name: string; level: string } })
    .filter(({ data }) => data.name === kind)
    .map(({ type, data }) => `${type} ${data.level}`);

t.test('a receiver is told of an alarm once, again while it lasts, and when it is over', async (t) => {
  const receiver = await startReceiver(t);
  const world = await startWorld(t, {
    keepsHistory: true,
    env: { LAPEL_ALARM_URL: receiver.url, LAPEL_ALARM_KEY: KEY },
  });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await pass(world, 7);
  t.same(ofKind(receiver.taken, 'devicesGone'), [], 'nothing to tell');
  await device.link.drop();
  await pass(world, 9);
  t.same(ofKind(receiver.taken, 'devicesGone'), ['alarm.firing warning'], 'once');

  await t.test('signed as Standard Webhooks, with a sentence and its time', async (t) => {
    const { body, headers } = receiver.taken.find((one) => one.body.includes('devicesGone')) as Taken;
    t.match(JSON.parse(body), { data: { text: 'None of 1 device is connected.', since: /^2026-11-20T/ } });
    const { 'webhook-id': id = '', 'webhook-timestamp': at, 'webhook-signature': signature } = headers;
    t.equal(new Webhook(KEY).sign(id, new Date(Number(at) * 1000), body), signature);
  });

  await t.test('a restart tells nothing twice', async (t) => {
    await world.restart();
    await pass(world, 20);
    t.same(ofKind(receiver.taken, 'devicesGone'), ['alarm.firing warning'], 'nor an end that nobody has seen');
  });

  await t.test('what the receiver has not taken is told again, and it is told again after a day', async (t) => {
    receiver.status = 503;
    world.clock.leap(24 * HOUR);
    await pass(world, 3);
    const { body } = await world.admin().get('/admin/v1/alarm-receiver');
    t.match(body, { isSigned: true, lastAttempt: { status: 503, error: 'the receiver answered 503' } });
    t.notMatch(JSON.stringify(body), 'secret', 'the URL may be a secret');
    receiver.status = 204;
    receiver.taken.length = 0;
    await pass(world, 8);
    t.same(ofKind(receiver.taken, 'devicesGone'), ['alarm.firing warning']);
  });

  await t.test('the end is told when it has lasted for a minute', async (t) => {
    receiver.taken.length = 0;
    device.link = await world.connect(device);
    await pass(world, 3);
    t.same(ofKind(receiver.taken, 'devicesGone'), ['alarm.resolved warning']);
  });

  await t.test('a test is a message of its own', async (t) => {
    receiver.taken.length = 0;
    const { body } = await world.admin().post('/admin/v1/alarm-receiver/test');
    t.match(body, { host: new URL(receiver.url).host, lastAttempt: { status: 204, error: null } });
    t.match(JSON.parse(receiver.taken[0]?.body ?? ''), { type: 'alarm.test' });
  });
});

t.test('a message that the receiver refuses holds up no other one', async (t) => {
  const receiver = await startReceiver(t);
  receiver.refuses = /devicesContested/;
  const world = await startWorld(t, { keepsHistory: true, env: { LAPEL_ALARM_URL: receiver.url } });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await pass(world, 2);
  world.service.metrics.mqttIdentitiesContested.inc();
  await pass(world, 2);
  await device.link.drop();
  await pass(world, 12);
  t.ok(ofKind(receiver.taken, 'devicesContested').length > 5, 'it is tried at each look');
  t.same(ofKind(receiver.taken, 'devicesGone'), ['alarm.firing warning']);

  await t.test('nor the end of another one', async (t) => {
    device.link = await world.connect(device);
    await pass(world, 3);
    t.same(ofKind(receiver.taken, 'devicesGone'), ['alarm.firing warning', 'alarm.resolved warning']);
  });

  await t.test('nor does the end that is refused', async (t) => {
    receiver.refuses = /^$/;
    world.service.metrics.mqttIdentitiesContested.inc();
    await pass(world, 2);
    receiver.refuses = /alarm.resolved.*devicesContested/;
    await device.link.drop();
    await pass(world, 20);
    t.same(ofKind(receiver.taken, 'devicesContested').slice(-3), Array(3).fill('alarm.resolved warning'));
    device.link = await world.connect(device);
    await pass(world, 3);
    t.same(ofKind(receiver.taken, 'devicesGone').slice(2), ['alarm.firing warning', 'alarm.resolved warning']);
  });
});

t.test('without a receiver a test is refused, and nothing is told', async (t) => {
  const world = await startWorld(t);
  t.match((await world.admin().get('/admin/v1/alarm-receiver')).body, { host: null, lastAttempt: null });
  const { status, body } = await world.admin().post('/admin/v1/alarm-receiver/test');
  t.equal(status, 409);
  t.match(body, { message: /LAPEL_ALARM_URL/ });
});

t.test('a template takes any text into its JSON', async (t) => {
  const message = { type: 'alarm.firing', name: 'x', level: 'critical', text: '"a"\n\\ $& {text}', since: 0 } as const;
  const body = bodyOf(message, 0, '{"text":"{text}","mrkdwn":false}');
  t.same(JSON.parse(body), { text: `Lapel, critical: ${message.text}`, mrkdwn: false });
});

t.test('a faulty setting of the receiver is refused, and its secret is not shown', async (t) => {
  for (const [env, problem] of [
    [{ LAPEL_ALARM_URL: 'ftp://secret' }, /LAPEL_ALARM_URL: must be an http or https URL/],
    [{ LAPEL_ALARM_TEMPLATE: '{"text":"{text}"}' }, /LAPEL_ALARM_TEMPLATE: needs LAPEL_ALARM_URL/],
    [{ LAPEL_ALARM_URL: 'https://a.example', LAPEL_ALARM_KEY: 'whsec_secret' }, /LAPEL_ALARM_KEY: must be whsec_/],
    [{ LAPEL_ALARM_URL: 'https://a.example', LAPEL_ALARM_TEMPLATE: '{text}' }, /LAPEL_ALARM_TEMPLATE: must be JSON/],
    [{ LAPEL_ALARM_URL: 'https://a.example', LAPEL_ALARM_TEMPLATE: '{"a":1}' }, /LAPEL_ALARM_TEMPLATE: must be JSON/],
  ] as const) {
    t.throws(() => readConfig({ env }), { message: problem });
    t.doesNotThrow(() => readConfig({ env: { LAPEL_ALARM_URL: 'https://a.example' } }));
  }
});
