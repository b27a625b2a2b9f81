import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCustomer } from '@lapel/device-sim/customer/customer';
import { createEnrolment } from '@lapel/device-sim/customer/enrolment';
import { createOperator } from '@lapel/device-sim/customer/operator';
import { provision } from '@lapel/device-sim/customer/provision';
import { createFleet } from '@lapel/device-sim/fleet/fleet';
import { oneGroup } from '@lapel/device-sim/fleet/member';
import { systemTimers, type Timers } from '@lapel/device-sim/timers';
import t, { type Test } from 'tap';
import { createFakeClock } from '../../fake-clock.ts';
import { startWorld } from '../../world.ts';

/** The operator's waits are over at once: a hundred times faster. */
const hasty: Timers = { now: () => 100 * systemTimers.now(), after: (ms, task) => systemTimers.after(ms / 100, task) };

/**
 * A fleet of three activated devices with its customer and the operator of the real service. `adminUrl`: an
 * administration API that the operator uses instead of that of the service.
 */
async function startOperated(
  t: Test,
  { adminUrl, timers = systemTimers }: { adminUrl?: string; timers?: Timers } = {},
) {
  const clock = createFakeClock(Date.now() * 1000); // webhooks are verified against the real time
  const world = await startWorld(t, { clock, env: { LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' } });
  const { admin, http: apiUrl, mqtt } = world.service.addresses;
  const token = world.service.adminToken;
  const names = { developerId: 'fleet', run: 'operated', seed: 1, places: [0, 1, 2] };
  const { accounts, application } = await provision({ adminUrl: admin, token, ...names });
  const customer = createCustomer({ apiUrl, application, admin: { url: admin, token }, timers: systemTimers });
  t.teardown(() => customer[Symbol.asyncDispose]());
  const fleet = createFleet({ members: oneGroup(accounts), url: mqtt });
  t.teardown(() => fleet[Symbol.asyncDispose]());
  await customer.start();
  customer.follow(fleet);
  await fleet.connect();
  await customer.activate(
    accounts.map(({ deviceId }) => deviceId),
    'begin',
    5000,
  );
  const troubles: string[] = [];
  const enrolment = createEnrolment({ adminUrl: adminUrl ?? admin, token, api: apiUrl }, names);
  const operator = createOperator({
    fleet,
    customer,
    enrolment,
    timers,
    stopped: new AbortController().signal,
    onTrouble: (text) => troubles.push(text),
  });
  const wrongs = (): string[] => customer.ledger.troubles().map(({ text }) => text);
  return { world, customer, fleet, enrolment, operator, troubles, wrongs };
}

t.test('devices are replaced, moved and get new credentials, and the customer goes on with them', async (t) => {
  const { customer, fleet, enrolment, operator, troubles, wrongs } = await startOperated(t);
  const [first, second, third] = fleet.devices.map(({ deviceId }) => deviceId);

  await operator.act('newCredential', 0, 'work', 1);
  t.equal(fleet.devices[0]?.online, true);
  t.equal(fleet.devices[0]?.deviceId, first);

  await operator.act('moveDevice', 1, 'work', 2);
  t.equal(fleet.devices[1]?.deviceId, second);
  t.ok(fleet.devices[1]?.state.activation, 'it is activated again');

  await operator.act('removeDevice', 2, 'work', 3);
  t.equal(fleet.devices[2]?.online, false);
  await operator.act('newCredential', 2, 'work', 4); // nothing happens to a removed device
  await operator.act('registerDevice', 2, 'work', 5);
  const newcomer = fleet.devices[2]?.deviceId ?? '';
  t.not(newcomer, third);
  t.strictSame([...enrolment.registered], [[newcomer, 2]]);
  t.ok(fleet.devices[2]?.online);

  for (const { deviceId } of fleet.devices) await customer.act({ do: 'setWifi', number: 7 }, deviceId, 'after');
  await customer.settle(5000);
  t.match(customer.ledger.figures('after'), { accepted: 3, succeeded: 3, lost: 0, wrong: 0 });
  t.strictSame([...troubles, ...wrongs()], []);
});

t.test('a service that leaves connections open and accepts former credentials is found', async (t) => {
  // An administration API that says yes and does nothing.
  const server = createServer(({ method }, response) => {
    const [status, body] = method === 'DELETE' ? [204, ''] : [201, '{"credential":"new credential"}'];
    response.writeHead(status as number).end(body);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { operator, fleet, customer, wrongs } = await startOperated(t, { adminUrl, timers: hasty });
  const [first, second] = fleet.devices.map(({ deviceId }) => deviceId);
  await operator.act('newCredential', 0, 'work', 1);
  await operator.act('removeDevice', 1, 'work', 2);
  t.match(wrongs(), [
    'the connection after a new credential has the wrong connection: "open" instead of "closed"',
    'the former credential has the wrong login: "accepted" instead of "refused"',
    'the connection after the deletion has the wrong connection: "open" instead of "closed"',
  ]);
  t.strictSame(
    customer.ledger.troubles().map(({ deviceId }) => deviceId),
    [first, first, second],
  );
});

t.test('an answer of administration that is not the right one is wrong, and a 5xx is reported', async (t) => {
  let status = 409;
  const server = createServer((_, response) => response.writeHead(status).end('{}')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const adminUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { operator, wrongs, troubles } = await startOperated(t, { adminUrl, timers: hasty });
  await operator.act('removeDevice', 0, 'work', 1);
  status = 503;
  await operator.act('removeDevice', 0, 'work', 2);
  t.match(wrongs(), [/the answer to the deletion.*409/]);
  t.match(troubles, [/^the deletion of device \d{15}: 503$/]);
});
