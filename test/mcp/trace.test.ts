import t from 'tap';
import { createTestCollector, treeOf } from '../tracing/test-collector.ts';
import { startWorld } from '../world.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

t.test('the operations that a tool calls are below its request in the trace, and have its request id', async (t) => {
  const collector = await createTestCollector(t);
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const world = await startWorld(t, { env });
  const { api } = await world.createTenant();
  const headers = { traceparent: `00-${TRACE}-00f067aa0ba902b7-01`, 'x-request-id': 'question-1' };
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'rollouts', arguments: {} } };
  const answer = await api.post('/mcp', { headers, json });
  t.equal(answer.status, 200);
  await world.idle();
  t.same(treeOf(collector.spans, TRACE), ['POST /mcp', '  GET /v1/applications/{applicationId}/rollouts']);
  for (const { attributes } of collector.spans.filter(({ traceId }) => traceId === TRACE)) {
    t.equal(attributes['lapel.request_id'], 'question-1');
  }
});
