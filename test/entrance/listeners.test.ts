import { readFileSync } from 'node:fs';
import { connect as connectTcp, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { SETTINGS } from '@lapel/schemas/contracts/settings';
import t, { type Test } from 'tap';
import { Agent, request } from 'undici';
import { createAuthority, skip } from '../broker/authority.ts';
import { startWorld } from '../world.ts';

/** A page of an attacker, whose host name he has made to lead to a listener. */
const EVIL = 'evil.example';
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** The treatment of requests of foreign pages by a listener for HTTP. */
interface Web {
  kind: 'web';
  /** A name that it is known by, from a setting. */
  name: string;
  /** A request that it answers to anybody who may. */
  good: { method: (typeof METHODS)[number]; path: string };
  /** A request that needs a right, and the status without it: what it is with a cookie of the console, too. */
  closed: { path: string; status: number };
}

/** Each listener. One that speaks no HTTP answers nothing to a browser. */
type Row = Web | { kind: 'mqtt' } | { kind: 'websocket'; name: string };

t.test('no page of another site gets anything from any listener', { skip }, async (t) => {
  const folder = t.testdir({ data: {}, tls: {} });
  const authority = createAuthority(join(folder, 'tls'), 'site');
  const { certFile, keyFile } = authority.sign('server');
  const ca = readFileSync(authority.ca);
  const ports = SETTINGS.filter(({ kind }) => kind === 'port').map(({ name }) => [name, '0']);
  const world = await startWorld(t, {
    dataDir: join(folder, 'data'),
    env: {
      ...Object.fromEntries(ports),
      LAPEL_TLS_CERT: certFile,
      LAPEL_TLS_KEY: keyFile,
      LAPEL_HTTP_NAMES: 'api.internal',
      LAPEL_ADMIN_NAMES: 'admin.internal',
    },
  });
  const { api, path: own } = await world.createTenant();
  await api.post(`${own}/packages`, { json: { package: 'com.example.app' } });
  await api.post(`${own}/packages/com.example.app/versions`, { json: { version: '1.0.0' } });
  const { body } = await api.post(`${own}/packages/com.example.app/versions/1.0.0/binaries`);
  const upload = new URL(body.urlList[0].uploadUrl as string);

  const addresses: Record<string, string> = { ...world.service.addresses };
  const rows: Record<string, Row> = {
    http: {
      kind: 'web',
      name: 'api.internal',
      good: { method: 'GET', path: '/.well-known/jwks.json' },
      closed: { path: own, status: 401 },
    },
    admin: {
      kind: 'web',
      name: 'admin.internal',
      good: { method: 'GET', path: '/console' },
      closed: { path: '/admin/v1/developers', status: 403 }, // the cookie is its own, so the foreign page is refused
    },
    metrics: {
      kind: 'web',
      name: 'admin.internal',
      good: { method: 'GET', path: '/metrics' },
      closed: { path: '/admin/v1/developers', status: 403 },
    },
    objects: {
      kind: 'web',
      name: upload.host, // the signature of a URL covers the host, so no other name is good
      good: { method: 'PUT', path: `${upload.pathname}${upload.search}` },
      closed: { path: upload.pathname, status: 403 },
    },
    mqtt: { kind: 'mqtt' },
    mqtts: { kind: 'mqtt' },
    mqttWs: { kind: 'websocket', name: 'api.internal' },
  };
  t.same(Object.keys(addresses).sort(), Object.keys(rows).sort(), 'each listener has a row');

  const agent = new Agent({ connect: { ca } });
  t.teardown(() => agent.destroy());
  async function ask(
    listener: string,
    method: (typeof METHODS)[number],
    path: string,
    headers: Record<string, string>,
  ) {
    const answer = await request(`${addresses[listener]}${path}`, { method, headers, dispatcher: agent });
    await answer.body.dump();
    return { status: answer.statusCode, headers: answer.headers };
  }
  /** Sends lines to a listener, and returns the beginning of its answer. */
  async function raw(listener: string, lines: readonly string[]): Promise<string> {
    const { hostname, port, protocol } = new URL(addresses[listener] ?? '');
    const to = { host: hostname, port: Number(port) };
    const socket: Socket = /^(mqtts|wss):$/.test(protocol) ? connectTls({ ...to, ca }) : connectTcp(to);
    socket.on('error', () => undefined).write([...lines, '', ''].join('\r\n'));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes('\r\n\r\n')) socket.destroy();
    });
    await new Promise((resolve) => socket.once('close', resolve));
    return text.split('\r\n')[0] ?? '';
  }
  const allowed = (headers: object): string[] =>
    Object.keys(headers).filter((name) => name.startsWith('access-control-'));

  const page = { origin: addresses['admin'] ?? '', 'sec-fetch-site': 'same-origin', 'x-lapel-console': '1' };
  const login = await request(`${addresses['admin']}/console/session`, {
    method: 'POST',
    headers: { ...page, 'content-type': 'application/json' },
    body: JSON.stringify({ token: world.service.adminToken }),
  });
  t.equal(login.statusCode, 204);
  const setCookie = String(login.headers['set-cookie']);
  const [cookie = ''] = setCookie.split(';');
  t.match(setCookie, /; HttpOnly/i);
  t.match(setCookie, /; Secure/i);
  t.match(setCookie, /; SameSite=Strict/i);
  const session = await ask('admin', 'GET', '/admin/v1/developers', { cookie, 'sec-fetch-site': 'same-origin' });
  t.equal(session.status, 200, 'the cookie is good for the console');

  async function checkWeb(t: Test, listener: string, { name, good, closed }: Web): Promise<void> {
    t.equal((await ask(listener, good.method, good.path, { host: name })).status, 200, 'its name is good');
    for (const host of [EVIL, `${EVIL}:80`, `${name}.${EVIL}`, `127.0.0.1.${EVIL}`]) {
      t.equal((await ask(listener, good.method, good.path, { host })).status, 403, `rebinding: ${host}`);
    }
    for (const method of METHODS) {
      for (const origin of [`https://${EVIL}`, `http://${EVIL}`, 'http://127.0.0.1:1', 'null']) {
        const asked = {
          origin,
          'access-control-request-method': 'PUT',
          'access-control-request-headers': 'authorization',
        };
        const { headers } = await ask(listener, method, good.path, asked);
        t.same([allowed(headers), headers['set-cookie']], [[], undefined], `${method} of ${origin}`);
      }
      // No page can have another Host and a cookie of the console, but one on another port of this host has the cookie.
      for (const site of ['cross-site', 'same-site', 'none']) {
        const sent = { cookie, origin: 'http://127.0.0.1:1', 'sec-fetch-site': site };
        const { status } = await ask(listener, method, closed.path, sent);
        t.ok(
          status === closed.status || status === 403,
          `${method} with the cookie of the console, ${site}: ${status}`,
        );
      }
    }
    t.equal((await ask(listener, 'GET', closed.path, { cookie, 'sec-fetch-site': 'same-site' })).status, closed.status);
    const plain = await ask(listener, good.method, good.path, {});
    t.equal(plain.headers['strict-transport-security'], undefined, 'not without TLS');
  }

  const upgrade = (host: string, ...more: string[]): string[] => [
    'GET / HTTP/1.1',
    `Host: ${host}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: mqtt',
    ...more,
  ];

  for (const [listener, row] of Object.entries(rows)) {
    t.test(listener, async (t) => {
      if (row.kind === 'web') return checkWeb(t, listener, row);
      if (row.kind === 'mqtt') {
        const answer = await raw(listener, [`POST / HTTP/1.1`, `Host: ${EVIL}`, `Origin: http://${EVIL}`]);
        t.equal(answer, '', 'nothing that a browser could read');
        return;
      }
      const from = `Origin: http://${EVIL}`;
      t.equal(await raw(listener, upgrade(EVIL, from)), 'HTTP/1.1 403 Forbidden', 'rebinding');
      t.equal(await raw(listener, upgrade(`${row.name}.${EVIL}`, from)), 'HTTP/1.1 403 Forbidden');
      t.match(await raw(listener, upgrade(row.name, `Origin: https://${row.name}`)), /^HTTP\/1\.1 101 /);
      t.match(await raw(listener, upgrade('devices.example')), /^HTTP\/1\.1 101 /, 'a device, which sends no Origin');
      t.match(await raw(listener, ['GET / HTTP/1.1', `Host: ${EVIL}`, from]), /^HTTP\/1\.1 426 /);
    });
  }
});
