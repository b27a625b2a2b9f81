import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import { deviceIdFor } from '@lapel/device-sim/fleet/device-ids';
import { startFiguresPush } from '@lapel/device-sim/report/figures-push';
import { RUN_METRICS } from '@lapel/device-sim/report/run-metrics';
import t, { type Test } from 'tap';
import { until } from '../../until.ts';
import { startBroker } from '../plain-broker.ts';
import { simulateHere } from '../simulate-here.ts';
import { recordOf } from './record-of.ts';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}
interface Point {
  readonly attributes: readonly Attribute[];
  readonly asDouble?: number;
  readonly asInt?: number;
}
interface Metrics {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeMetrics: readonly {
      readonly metrics: readonly { readonly name: string; readonly gauge: { readonly dataPoints: readonly Point[] } }[];
    }[];
  }[];
}

/** A collector of OpenTelemetry, as far as it takes metrics in JSON. */
async function startCollector(t: Test, status = 200) {
  const requests: { readonly url: string; readonly headers: IncomingHttpHeaders; readonly body: Metrics }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      requests.push({ url: request.url ?? '', headers: request.headers, body: body as Metrics });
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

const labelsOf = (attributes: readonly Attribute[]): Record<string, string> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]));

/** The points of a request, by the names of their metrics. */
const pointsOf = ({ resourceMetrics }: Metrics) =>
  Object.fromEntries(
    resourceMetrics
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .map(({ name, gauge }) => [
        name,
        gauge.dataPoints.map(({ attributes, asDouble, asInt }) => ({
          labels: labelsOf(attributes),
          value: asDouble ?? asInt,
        })),
      ]),
  );

const { chapters } = recordOf();
const SHOWN = {
  chapters: () => chapters,
  standing: () => [{ expectation: { text: 'lost == 0', phase: null }, holds: false }],
};

t.test('a collector gets the metrics of the page again and again, and at the end', async (t) => {
  const collector = await startCollector(t);
  const notes: string[] = [];
  const push = startFiguresPush(`${collector.url}/v1/metrics`, {
    run: 'night',
    onNote: (note) => notes.push(note),
    every: 100,
  });
  push.show(SHOWN);
  await until(() => collector.requests.length >= 2);
  const before = collector.requests.length;
  await push[Symbol.asyncDispose]();
  t.ok(collector.requests.length > before, 'the last figures');
  const last = collector.requests.at(-1)!;
  t.equal(last.headers['content-type'], 'application/json');
  t.match(labelsOf(last.body.resourceMetrics[0]!.resource.attributes), {
    'service.name': 'lapel-sim',
    'service.instance.id': 'night',
  });
  t.same(pointsOf(last.body), Object.fromEntries(RUN_METRICS.map(({ name, read }) => [name, read(SHOWN)])));
  t.strictSame(notes, []);
});

t.test('a collector that refuses the figures is told at the end', async (t) => {
  const { url } = await startCollector(t, 400);
  const notes: string[] = [];
  const push = startFiguresPush(`${url}/v1/metrics`, { run: 'night', onNote: (note) => notes.push(note) });
  push.show(SHOWN);
  await push[Symbol.asyncDispose]();
  t.match(notes, [/^the figures could not be sent to http:.*\/v1\/metrics \(1 times\): ./]);
});

t.test('a run sends its figures to the path of OpenTelemetry, and goes on without a collector', async (t) => {
  const collector = await startCollector(t);
  await using broker = await startBroker();
  const file = join(t.testdir(), 'devices.ndjson');
  writeFileSync(file, `${JSON.stringify({ deviceId: deviceIdFor(1, 0), credential: 'any' })}\n`);
  const args = ['--mqtt', broker.url, '--devices', file, '--until-idle', '0.2', '--run', 'night'];
  t.match(await simulateHere([...args, '--otlp', collector.url]), { code: 0, stderr: /^(?!.*could not be sent)/s });
  const last = collector.requests.at(-1);
  t.equal(last?.url, '/v1/metrics');
  const connections = { labels: { figure: 'connections', phase: 'run' }, value: 1 };
  t.ok(pointsOf(last!.body)['lapelsim_figure']?.some((point) => isDeepStrictEqual(point, connections)));
  const gone = await simulateHere([...args, '--otlp', 'http://127.0.0.1:1/otlp']);
  t.match(gone, { code: 0, stderr: /the figures could not be sent to http:\/\/127\.0\.0\.1:1\/otlp/ });
});
