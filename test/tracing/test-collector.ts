import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';

interface Value {
  stringValue?: string;
  intValue?: number;
}

/** A span in OTLP/JSON, as far as the tests need it. */
interface RawSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: Value }[];
  status: { code?: number; message?: string };
}

export interface SeenSpan extends Omit<RawSpan, 'attributes'> {
  attributes: Record<string, string | number | undefined>;
}

/** A collector that keeps the spans which it gets as OTLP/JSON, and the other requests as they are. */
export async function createTestCollector(t: Test) {
  const spans: SeenSpan[] = [];
  const resources: unknown[] = [];
  const others: { type: string | undefined; body: Buffer }[] = [];
  let status = 200;
  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const type = request.headers['content-type'];
    if (request.url === '/v1/traces' && type === 'application/json' && status === 200) {
      const { resourceSpans } = JSON.parse(body.toString()) as {
        resourceSpans: { resource: { attributes: unknown }; scopeSpans: { spans: RawSpan[] }[] }[];
      };
      for (const { resource, scopeSpans } of resourceSpans) {
        resources.push(resource.attributes);
        for (const { attributes, ...span } of scopeSpans.flatMap((scope) => scope.spans)) {
          const values = attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue]);
          spans.push({ ...span, attributes: Object.fromEntries(values) as SeenSpan['attributes'] });
        }
      }
    } else others.push({ type, body });
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}');
  }
  const server = createServer((request, response) => void take(request, response));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    resources,
    others,
    /** Answers with this status from now on. */
    answer(wanted: number): void {
      status = wanted;
    },
  };
}

/** The spans of a trace as lines, each below its parent and indented, in the order in which they began. */
export function treeOf(spans: readonly SeenSpan[], traceId: string): string[] {
  const own = spans.filter((span) => span.traceId === traceId);
  const below = (parent: string, depth: number): string[] =>
    own
      .filter(({ parentSpanId = '' }) => parentSpanId === parent)
      .toSorted((one, other) => Number(BigInt(one.startTimeUnixNano) - BigInt(other.startTimeUnixNano)))
      .flatMap((span) => [`${'  '.repeat(depth)}${span.name}`, ...below(span.spanId, depth + 1)]);
  const known = new Set(own.map(({ spanId }) => spanId));
  const roots = new Set(own.map(({ parentSpanId = '' }) => parentSpanId).filter((parent) => !known.has(parent)));
  return [...roots].flatMap((root) => below(root, 0));
}
