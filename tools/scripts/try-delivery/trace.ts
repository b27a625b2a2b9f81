import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { type Environment, run, start } from '../trial/programs.ts';

interface Span {
  traceId: string;
  name: string;
}

/** Sends commands through an installed service that exports traces; returns the spans of one whole trace. */
export async function collectTrace({ bin, folder, env: base }: { bin: string; folder: string; env: Environment }) {
  const spans: Span[] = [];
  const collector = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { resourceSpans } = JSON.parse(body.toString()) as { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
      for (const { scopeSpans } of resourceSpans) for (const scope of scopeSpans) spans.push(...scope.spans);
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(collector, 'listening');
  const ports = ['HTTP', 'ADMIN', 'MQTT', 'OBJECTS'].map((name) => [`LAPEL_${name}_PORT`, '0']);
  const env = {
    ...base,
    ...Object.fromEntries(ports),
    LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '200',
    OTEL_BSP_MAX_QUEUE_SIZE: '100000',
  };
  // The simulator finds the administrator token in the folder `data`.
  const service = start([join(bin, 'lapel'), 'serve'], { env, cwd: folder });
  const [line] = await service.said(/^\{.*\}$/m);
  const { http, admin, mqtt } = JSON.parse(line) as { http: string; admin: string; mqtt: string };
  await run([join(bin, 'lapel-sim'), 'run', 'smoke', '--api', http, '--admin', admin, '--mqtt', mqtt], {
    env,
    cwd: folder,
  });
  assert.equal(await service.end(), 0); // it exports the last spans before it ends
  collector.closeAllConnections();
  collector.close();
  const wanted = ['commit', 'publish setWifi', 'acknowledge', 'POST deviceEvent'];
  const traces = Map.groupBy(spans, ({ traceId }) => traceId);
  const whole = [...traces.values()].find((own) => wanted.every((name) => own.some((span) => span.name === name)));
  assert.ok(whole, `no trace has ${wanted.join(', ')}`);
  return `${spans.length} spans; one trace: ${whole.map(({ name }) => name).join(', ')}`;
}
