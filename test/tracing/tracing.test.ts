import { join } from 'node:path';
import { Writable } from 'node:stream';
import t, { type Test } from 'tap';
import { createLog } from '../../src/runtime/log.ts';
import { readTraceparent } from '../../src/runtime/tracing.ts';
import { readTracingTarget } from '../../src/runtime/tracing-target.ts';
import { runProgram } from '../run-program.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { createTestCollector } from './test-collector.ts';

const ROOT = join(import.meta.dirname, '../..');
const [TRACE, CALLER] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7'];

/** Sends a command through the ring with a `traceparent`; returns that of its webhook. */
async function ring(t: Test, options: Parameters<typeof startWorld>[1], traceparent: string | undefined) {
  const world = await startWorld(t, options);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const headers = traceparent === undefined ? {} : { traceparent };
  const submitted = await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI, headers });
  t.equal(submitted.status, 201);
  device.link.puback((await device.link.command()).packet);
  await device.link.ack({ transactionId: transactionIdOf(submitted), status: 'succeeded' });
  const event = await tenant.event();
  await world.idle();
  return { world, tenant, sent: event.headers['traceparent'] };
}

const traced = ({ endpoint }: { endpoint: string }, protocol = 'http/json') => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
});

t.test('without an endpoint nothing is traced, handed on or loaded', async (t) => {
  t.equal((await ring(t, {}, `00-${TRACE}-${CALLER}-01`)).sent, undefined);
  const program = `
    import { openTracing } from ${JSON.stringify(join(ROOT, 'src/platform/tracing/open-tracing.ts'))};
    import ${JSON.stringify(join(ROOT, 'src/service.ts'))};
    import { createRequire } from 'node:module';
    // prom-client loads the api, which has no exporter.
    const loaded = () => Object.keys(createRequire(import.meta.url).cache).filter((path) => /@opentelemetry.(?!api)/.test(path));
    await openTracing(null, {});
    const before = loaded().length;
    await import(${JSON.stringify(join(ROOT, 'src/platform/tracing/telemetry.ts'))});
    console.log(JSON.stringify([before, loaded().length > 0]));`;
  const { stdout, stderr } = await runProgram(process.execPath, ['--input-type=module', '-e', program]);
  t.equal(stderr, '');
  t.same(JSON.parse(stdout), [0, true]);
});

t.test('a caller without a trace, or with an invalid one, begins a new one', async (t) => {
  const collector = await createTestCollector(t);
  const { sent, world, tenant } = await ring(t, { env: traced(collector) }, undefined);
  const [, trace] = String(sent).split('-');
  const names = collector.spans.filter(({ traceId }) => traceId === trace).map(({ name }) => name);
  t.same(names.sort(), [
    'POST deviceEvent',
    'PUT /v1/applications/{applicationId}/devices/{deviceId}/settings/wifi',
    'acknowledge',
    'commit',
    'commit',
    'publish setWifi',
  ]);
  const invalid = ['', 'x', `00-${TRACE}-${CALLER}`, `00-${TRACE}-${CALLER}-01-more`, `ff-${TRACE}-${CALLER}-01`];
  invalid.push(
    `00-${'0'.repeat(32)}-${CALLER}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${CALLER}-01`,
  );
  for (const traceparent of invalid) {
    t.equal(readTraceparent(traceparent), undefined, traceparent);
    t.equal((await tenant.api.get(tenant.path, { headers: { traceparent } })).status, 200);
  }
  t.same(readTraceparent(`01-${TRACE}-${CALLER}-03-more`), { traceId: TRACE, spanId: CALLER, traceFlags: 3 });
  await world.idle();
  t.equal(collector.spans.filter(({ traceId }) => traceId.toLowerCase() === TRACE).length, 0);
  const probes = await Promise.all(['/healthz', '/readyz', '/metrics'].map((path) => world.anonymousAdmin().get(path)));
  t.same(new Set(probes.map(({ status }) => status)), new Set([200]));
  await world.idle();
  t.notOk(
    collector.spans.some(({ attributes }) => String(attributes['url.path']).endsWith('z')),
    'probes have no spans',
  );
});

t.test('a trace that its caller does not sample is handed on, and not exported', async (t) => {
  const collector = await createTestCollector(t);
  const { sent } = await ring(t, { env: traced(collector) }, `00-${TRACE}-${CALLER}-00`);
  t.match(String(sent), new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`));
  t.equal(collector.spans.filter(({ traceId }) => traceId === TRACE).length, 0);
});

t.test('spans are exported as protobuf by default', async (t) => {
  const collector = await createTestCollector(t);
  const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.endpoint}/v1/traces` };
  await ring(t, { env }, `00-${TRACE}-${CALLER}-01`);
  t.equal(collector.others[0]?.type, 'application/x-protobuf');
  t.ok(Buffer.concat(collector.others.map(({ body }) => body)).includes(Buffer.from(TRACE, 'hex')));
});

t.test('a collector that fails costs only the spans; what is lost is counted and told once', async (t) => {
  const collector = await createTestCollector(t);
  collector.answer(400);
  let text = '';
  const destination = new Writable({
    write(chunk: Buffer, _, done) {
      text += chunk.toString();
      done();
    },
  });
  const log = createLog({ level: 'debug', destination });
  const { world } = await ring(t, { env: traced(collector), log }, `00-${TRACE}-${CALLER}-01`);
  const { spansRecorded, spansExported } = world.service.metrics;
  const recorded = (await spansRecorded.get()).values[0]!.value;
  t.ok(recorded > 6);
  t.match((await spansExported.get()).values, [{ labels: { outcome: 'failed' }, value: recorded }]);
  const lines = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, string>);
  t.equal(lines.filter(({ msg }) => msg === 'tracing').length, 1);
  t.match(
    lines.find(({ trace_id }) => trace_id === TRACE),
    { msg: 'request', requestId: /./, route: /settings\/wifi$/ },
    'the line of a request names its trace',
  );
});

t.test('the variables of OpenTelemetry say whether, where and how spans are exported', async (t) => {
  const read = (env: Record<string, string>) =>
    readTracingTarget(env, (name, problem) => {
      throw new Error(`${name} ${problem}`);
    });
  const endpoint = 'http://collector:4318';
  const url = `${endpoint}/v1/traces`;
  t.equal(read({}), null);
  t.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: '' }), null);
  t.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'TRUE' }), null);
  t.equal(read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_TRACES_EXPORTER: 'none' }), null);
  t.same(read({ OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/` }), { url, protocol: 'http/protobuf' });
  t.same(read({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/other`, OTEL_EXPORTER_OTLP_ENDPOINT: 'x' }), {
    url: `${endpoint}/other`,
    protocol: 'http/protobuf',
  });
  t.throws(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }), {
    message: 'OTEL_EXPORTER_OTLP_ENDPOINT must be a URL with http or https, not "collector:4318"',
  });
  t.throws(() => read({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }), {
    message: 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf or http/json, not "grpc"',
  });
});
