import t from 'tap';
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
    t.match(text, '1 devices match, 1 of them connected now.');
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
