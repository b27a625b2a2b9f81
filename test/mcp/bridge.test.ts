import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import t from 'tap';
import { run } from '../cli/run.ts';
import { startWorld } from '../world.ts';

const LAPEL = join(import.meta.dirname, '../../bin/lapel.mjs');
const line = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;

for (const legacy of [false, true]) {
  t.test(`lapel mcp serves a local assistant of ${legacy ? '2025' : '2026'}`, async (t) => {
    const world = await startWorld(t);
    const tenant = await world.createTenant();
    const { deviceId } = await world.activatedDevice(tenant);
    const env = {
      PATH: process.env['PATH'] ?? '',
      XDG_CONFIG_HOME: '/nonexistent',
      LAPEL_URL: world.service.addresses.http,
      LAPEL_APPLICATION: tenant.applicationId,
      LAPEL_APPLICATION_SECRET: tenant.secret,
    };
    const mode = legacy ? 'legacy' : { pin: '2026-07-28' };
    const client = new Client({ name: 'Local assistant', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [LAPEL, 'mcp'], env }));
    t.teardown(() => client.close());
    t.ok((await client.listTools()).tools.length > 15);
    const { content, isError } = await client.callTool({ name: 'why_no_command', arguments: { deviceId } });
    t.notOk(isError);
    t.match(JSON.stringify(content), 'It has no unfinished command');
  });
}

t.test('whatever goes wrong is an answer to the assistant, and the command goes on', async (t) => {
  const server = createServer((_, response) => response.writeHead(502).end('<html>bad gateway</html>'));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const wrong = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { LAPEL_ADMIN_TOKEN: 'a token' };
  const input = [
    'no JSON\n',
    '[]\n',
    '\n',
    line({ id: 1, method: 'tools/list' }),
    line({ method: 'notifications/initialized' }),
    line({ id: 'big', method: 'tools/call', params: { name: 'x'.repeat(70_000) } }),
    line({ id: 2, method: 'ping' }),
  ].join('');
  for (const url of ['http://127.0.0.1:9', wrong]) {
    const { code, stdout, stderr } = await run(['mcp', '--admin', '--admin-url', url], { env, input });
    t.equal(code, 0, stderr);
    const answers = stdout
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one));
    const ids = answers.map(({ id }) => String(id)).sort();
    t.same(ids, ['1', '2', 'big', 'null', 'null'], 'each message with an id has one answer');
    for (const { error } of answers) t.ok(error.message, 'which says what is wrong');
    t.match(stderr, /^lapel mcp: /m);
  }
});

t.test('a wrong token is an answer, with the id of the message', async (t) => {
  const world = await startWorld(t, { env: { LAPEL_ADMIN_ASSISTANTS: 'true' } });
  const env = { LAPEL_ADMIN_TOKEN: 'wrong', LAPEL_ADMIN_URL: world.service.addresses.admin };
  const { code, stdout } = await run(['mcp', '--admin'], { env, input: line({ id: 7, method: 'tools/list' }) });
  t.equal(code, 0);
  t.match(JSON.parse(stdout), { id: 7, error: { data: { code: 'ADMIN_TOKEN_INVALID' } } });
});

t.test('a secret that was refused is told as such, and not as a service that is away', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const env = {
    LAPEL_URL: world.service.addresses.http,
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: 'the secret of last year',
  };
  const { stdout } = await run(['mcp'], { env, input: line({ id: 1, method: 'tools/list' }) });
  t.match(JSON.parse(stdout), { id: 1, error: { message: /^the account was refused: .*wrong secret/ } });
});
