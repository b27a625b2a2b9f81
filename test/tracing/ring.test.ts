import t, { type Test } from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { createTestCollector, treeOf } from './test-collector.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const TRACEPARENT = `00-${TRACE}-${CALLER}-01`;

async function startTraced(t: Test, options: Parameters<typeof startWorld>[1] = {}) {
  const collector = await createTestCollector(t);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    ...options.env,
  };
  const world = await startWorld(t, { ...options, env });
  return { world, collector };
}

const RING = [
  'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/wifi',
  '  commit',
  '  publish setWifi',
  '  acknowledge',
  '    commit',
  '    POST deviceEvent',
];

t.test('a command is one trace, from the call to the webhook', async (t) => {
  const { world, collector } = await startTraced(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const put = (headers: Record<string, string>) =>
    tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI, headers });
  const submitted = await put({ traceparent: TRACEPARENT, 'x-request-id': 'patrol-7' });
  const transactionId = transactionIdOf(submitted);
  const { packet } = await device.link.command();
  world.clock.advance(40);
  device.link.puback(packet);
  tenant.receiver.answer({ status: 503 });
  await device.link.ack({ transactionId, status: 'succeeded' });
  const first = await tenant.event();
  tenant.receiver.answer({});
  await world.idle();
  world.clock.advance(10_000);
  const second = await tenant.event();
  await world.idle();

  t.same(treeOf(collector.spans, TRACE).sort(), [...RING, '    POST deviceEvent'].sort());
  const spanOf = (name: string, at = 0) =>
    collector.spans.filter((span) => span.traceId === TRACE && span.name === name)[at]!;
  const call = spanOf(RING[0]!);
  t.match(call, {
    parentSpanId: CALLER,
    kind: 2,
    attributes: {
      'http.response.status_code': 201,
      'lapel.application_id': tenant.applicationId,
      'lapel.request_id': 'patrol-7',
      'url.path': `${device.path}/settings/wifi`,
    },
  });
  const about = { 'lapel.transaction_id': transactionId, 'lapel.device_id': device.deviceId };
  const published = spanOf('publish setWifi');
  t.match(published, { kind: 4, attributes: { ...about, 'lapel.attempt': 1 } });
  t.equal(
    BigInt(published.endTimeUnixNano) - BigInt(published.startTimeUnixNano),
    40_000_000n,
    'a publish ends with its PUBACK',
  );
  t.match(spanOf('acknowledge'), { kind: 5, attributes: { ...about, 'lapel.ack.status': 'succeeded' } });
  const attempts = [spanOf('POST deviceEvent'), spanOf('POST deviceEvent', 1)];
  t.match(attempts[0], { kind: 3, status: { code: 2, message: 'answered 503' }, attributes: { 'lapel.attempt': 1 } });
  t.match(attempts[1], { status: { code: 0 }, attributes: { 'http.response.status_code': 200, 'lapel.attempt': 2 } });
  t.same(
    [first, second].map(({ headers }) => headers['traceparent']),
    attempts.map(({ spanId }) => `00-${TRACE}-${spanId}-01`),
    'each attempt hands itself on to the receiver',
  );
  const path = `${tenant.path}/transactions/${transactionId}`;
  t.equal((await tenant.api.get(path)).body.traceId, TRACE, 'the transaction names its trace');
  t.match(collector.resources[0], [{ key: 'service.name', value: { stringValue: 'lapel' } }]);
});

t.test('a trace goes on after a restart, for a device that was offline', async (t) => {
  const { world, collector } = await startTraced(t);
  const tenant = await world.createTenant();
  const { link, path, ...device } = await world.activatedDevice(tenant);
  link.socket.destroy();
  await world.idle();
  const json = WIFI;
  const submitted = await tenant.api.put(`${path}/settings/wifi`, { json, headers: { traceparent: TRACEPARENT } });
  await world.restart();
  const cut = await world.connect(device);
  await cut.command();
  cut.socket.destroy(); // without a PUBACK
  await world.idle();
  const again = await world.connect(device);
  again.puback((await again.command()).packet);
  await again.ack({ transactionId: transactionIdOf(submitted), status: 'failed' });
  await tenant.event();
  await world.idle();
  t.same(treeOf(collector.spans, TRACE).sort(), [...RING, '  publish setWifi'].sort());
  const publishes = collector.spans.filter(({ traceId, name }) => traceId === TRACE && name === 'publish setWifi');
  t.match(publishes, [
    { status: { code: 2, message: 'the connection ended before the PUBACK' }, attributes: { 'lapel.attempt': 1 } },
    { status: { code: 0 }, attributes: { 'lapel.attempt': 2 } },
  ]);
});

t.test('a trace goes through two nodes', { skip: NO_POSTGRES }, async (t) => {
  const { world, collector } = await startTraced(t, { nodes: 2 });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant, { node: 1 });
  const submitted = await tenant.api.put(`${device.path}/settings/wifi`, {
    json: WIFI,
    headers: { traceparent: TRACEPARENT },
  });
  device.link.puback((await device.link.command()).packet);
  await device.link.ack({ transactionId: transactionIdOf(submitted), status: 'succeeded' });
  t.match((await tenant.event()).headers['traceparent'], new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`));
  await world.idle();
  t.same(treeOf(collector.spans, TRACE).sort(), RING.toSorted());
});

t.test('the commands of a rollout belong to no request, whichever set them in motion', async (t) => {
  const { world } = await startTraced(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const json = { operation: 'setWifi', parameters: WIFI, devices: { devices: [device.deviceId] } };
  const made = await tenant.api.post(`${tenant.path}/rollouts`, { json, headers: { traceparent: TRACEPARENT } });
  t.equal(made.status, 201);
  const { transactionId } = await device.link.command();
  await device.link.ack({ transactionId, status: 'succeeded' });
  const event = await tenant.event();
  t.equal(event.headers['traceparent'], undefined);
  t.equal((await tenant.api.get(`${tenant.path}/transactions/${transactionId}`)).body.traceId, undefined);
});
