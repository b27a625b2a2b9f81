import t from 'tap';
import { until } from '../until.ts';
import { startWorld } from '../world.ts';
import { openAssistant } from './assistant.ts';

for (const legacy of [false, true]) {
  t.test(`an assistant of ${legacy ? '2025' : '2026'} lists the tools and asks one`, async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const device = await world.activatedDevice(tenant);
    const token = await world.tokenOf(tenant.applicationId, tenant.secret);
    const url = world.service.addresses.http;
    const assistant = await openAssistant(t, { url, token, legacy });
    const tools = await assistant.tools();
    t.ok(tools.some(({ name }) => name === 'find_devices'));
    const { text, isError } = await assistant.call('find_devices', { connected: true });
    t.notOk(isError, text);
    t.match(text, 'Activated devices that match: 1, connected of them now: 1.');
    t.match(text, device.deviceId);
  });
}

t.test('a request without a token is told where the metadata are, and they name the token service', async (t) => {
  const world = await startWorld(t);
  const client = world.anonymous();
  const base = world.service.addresses.http;
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const refused = await client.post('/mcp', { json });
  t.equal(refused.status, 401);
  t.equal(
    refused.headers['www-authenticate'],
    `Bearer realm="lapel", resource_metadata="${base}/.well-known/oauth-protected-resource/mcp"`,
  );
  const metadata = await client.get('/.well-known/oauth-protected-resource/mcp');
  t.equal(metadata.status, 200);
  t.match(metadata.body, { resource: `${base}/mcp`, authorization_servers: [base] });
});

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const headersOf = (method: string, name?: string): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': method,
  accept: 'application/json, text/event-stream',
  ...(name !== undefined && { 'mcp-name': name }),
});

t.test('a message that is none is answered as JSON-RPC has it, and nothing is left open', async (t) => {
  const world = await startWorld(t);
  const { api } = await world.createTenant();
  const headers = { 'content-type': 'application/json' };
  const cases: [text: string, status: number, code: number][] = [
    ['{', 400, -32_700],
    ['', 400, -32_600],
    ['[]', 400, -32_600],
    [JSON.stringify([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]), 400, -32_600],
    ['null', 400, -32_600],
    ['"text"', 400, -32_600],
    ['{"id":1}', 400, -32_600],
    [`{"jsonrpc":"2.0","id":1,"method":"${'x'.repeat(70_000)}"}`, 413, -32_600],
    [`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${'['.repeat(5_000)}${']'.repeat(5_000)}}`, 400, -32_600],
  ];
  for (const [text, status, code] of cases) {
    const answer = await api.post('/mcp', { headers, text });
    t.equal(answer.status, status, text.slice(0, 60));
    t.equal(answer.body.error.code, code, text.slice(0, 60));
  }
  await world.idle();
});

t.test(
  'what the protocol does not have is refused: methods, revisions, other HTTP methods, pages of other sites',
  async (t) => {
    const world = await startWorld(t);
    const { api } = await world.createTenant();
    const message = (method: string, params: object = {}) => ({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: META },
    });
    const unknown = await api.post('/mcp', { headers: headersOf('tools/eat'), json: message('tools/eat') });
    t.equal(unknown.status, 404);
    t.equal(unknown.body.error.code, -32_601);
    const future = { ...META, 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const json = { ...message('tools/list'), params: { _meta: future } };
    const headers = { ...headersOf('tools/list'), 'mcp-protocol-version': '2099-01-01' };
    const version = await api.post('/mcp', { headers, json });
    t.equal(version.status, 400);
    t.match(version.body.error.data.supported, ['2026-07-28']);
    const mismatch = await api.post('/mcp', {
      headers: headersOf('tools/call', 'health'),
      json: message('tools/list'),
    });
    t.equal(mismatch.status, 400);
    const listen = await api.post('/mcp', {
      headers: headersOf('subscriptions/listen'),
      json: message('subscriptions/listen', { notifications: { toolsListChanged: true } }),
    });
    t.match(listen.body.error.message, 'Subscription limit', 'no stream stays open');
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      const answer = await api.request(method, '/mcp');
      t.equal(answer.status, 405, method);
      t.equal(answer.headers['allow'], 'POST', method);
    }
    const ok = { headers: headersOf('tools/list'), json: message('tools/list') };
    const foreign = await api.post('/mcp', { ...ok, headers: { ...ok.headers, origin: 'https://evil.example' } });
    t.equal(foreign.status, 403);
    t.equal(foreign.headers['lapel-error-code'], 'ORIGIN_FOREIGN');
    const none = await api.post('/mcp', { ...ok, headers: { ...ok.headers, origin: 'null' } });
    t.equal(none.status, 403);
    const own = await api.post('/mcp', { ...ok, headers: { ...ok.headers, origin: world.service.addresses.http } });
    t.equal(own.status, 200);
  },
);

t.test('arguments that a tool does not take are told, with the name of the argument', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const assistant = await openAssistant(t, { url: world.service.addresses.http, token });
  for (const [tool, given, name] of [
    ['device', { deviceId: '1' }, 'deviceId'],
    ['device', {}, 'deviceId'],
    ['find_devices', { colour: 'red' }, 'colour'],
    ['failures', { since: 'yesterday' }, 'since'],
    ['commands', { cursor: 'nonsense' }, 'cursor'],
    ['commands', { status: 'eaten' }, 'status'],
  ] as const) {
    const { text, isError } = await assistant.call(tool, given);
    t.ok(isError, `${tool} ${name}`);
    t.match(text, name);
  }
  await t.rejects(assistant.call('no_such_tool'));
});

t.test('calls count in the rate of the application, as its other requests do', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_RATE_LIMIT: '1' } });
  const tenant = await world.createTenant('dev', { key: false, deviceEvent: false });
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  const assistant = await openAssistant(t, { url: world.service.addresses.http, token });
  const { text, isError } = await assistant.call('health');
  t.ok(isError);
  t.match(text, /RATE_LIMITED.*Repeat after \d+ seconds/);
});

t.test('a caller has a bound of calls at a time, with a metric', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  await world.activatedDevice(tenant);
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'health', arguments: {}, _meta: META } };
  const answers = await Promise.all(
    Array.from({ length: 24 }, () => tenant.api.post('/mcp', { headers: headersOf('tools/call', 'health'), json })),
  );
  const statuses = answers.map(({ status }) => status);
  t.ok(statuses.includes(200));
  t.ok(statuses.includes(429), 'more at a time are refused');
  const metrics = await world.service.metrics.registry.metrics();
  t.match(metrics, /http_refused_total\{bound="assistant_calls"\} [1-9]/);
  t.match(metrics, /assistant_calls_total\{tool="health",outcome="answered"\} [1-9]/);
  const after = await tenant.api.post('/mcp', { headers: headersOf('tools/call', 'health'), json });
  t.equal(after.status, 200, 'and the bound is free again');
});

t.test('a token that has expired, and a client that goes away, leave nothing behind', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const json = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'health', arguments: {}, _meta: META } };
  const headers = { ...headersOf('tools/call', 'health'), 'content-type': 'application/json' };
  const token = await world.tokenOf(tenant.applicationId, tenant.secret);
  for (let times = 0; times < 8; times += 1) {
    const leaving = new AbortController();
    const asked = fetch(new URL('/mcp', world.service.addresses.http), {
      method: 'POST',
      headers: { ...headers, authorization: `Bearer ${token}` },
      body: JSON.stringify(json),
      signal: leaving.signal,
    }).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
    setImmediate(() => leaving.abort());
    await asked;
  }
  await world.idle();
  // Their last read may still be on its way.
  await until(async () => (await world.clientWith(token).post('/mcp', { headers, json })).status === 200);
  world.clock.advance(3_700_000);
  const expired = await world.clientWith(token).post('/mcp', { headers, json });
  t.equal(expired.status, 401);
});
