import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import t from 'tap';
import { Client } from 'undici';
import { missing } from '../installed.ts';
import { until } from '../until.ts';
import { ALL_SCOPES } from '../world.ts';
import { ADMIN_TOKEN, startProcess } from './service-process.ts';

t.test(
  'with a low limit of open files, silent connections take none from devices and webhooks',
  { buffered: true },
  async (t) => {
    const service = await startProcess(t, { LAPEL_DATA_DIR: t.testdir() }, { openFiles: 400 });
    const { port } = new URL(service.addresses.mqtt);
    const sockets = Array.from({ length: 600 }, () => connect(Number(port), '127.0.0.1').on('error', () => undefined));
    t.teardown(() => {
      for (const socket of sockets) socket.destroy();
    });
    await Promise.all(sockets.map((socket) => Promise.race([once(socket, 'connect'), once(socket, 'close')])));
    for (const url of [`${service.addresses.http}/.well-known/jwks.json`, `${service.addresses.admin}/readyz`]) {
      t.equal((await fetch(url)).status, 200);
    }
    const device = connect(Number(port), '127.0.0.1');
    t.teardown(() => device.destroy());
    const answer = once(device, 'data');
    device.write(Buffer.from('100c00044d515454040200 0a0000'.replaceAll(' ', ''), 'hex'));
    t.equal(((await answer)[0] as Buffer).toString('hex'), '20020002', 'a CONNECT is answered');
    await service.said('the limit of connections of devices is reached');
  },
);

t.test('with a low limit of open files, fewer connections to receivers are kept', { buffered: true }, async (t) => {
  const env = { LAPEL_DATA_DIR: t.testdir(), LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true', LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' };
  const service = await startProcess(t, env, { openFiles: 256 });
  await service.said('the limit of open files is low');
  const { http, admin } = service.addresses;
  async function call(method: string, url: string, token: string, body?: object) {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    t.ok(answer.ok, `${method} ${url}: ${answer.status}`);
    return JSON.parse((await answer.text()) || '{}') as Record<string, string>;
  }
  const { developerId } = await call('POST', `${admin}/admin/v1/developers`, ADMIN_TOKEN, { name: 'many' });
  const applications = `${admin}/admin/v1/developers/${developerId}/applications`;
  const { applicationId, secret } = await call('POST', applications, ADMIN_TOKEN, { name: 'many' });
  const asked = await fetch(`${http}/api/v1/authenticate`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`${applicationId}:${secret}`).toString('base64')}` },
    body: new URLSearchParams({ grant_type: 'client_credentials', scope: ALL_SCOPES }),
  });
  const { access_token: token } = (await asked.json()) as { access_token: string };
  const path = `${http}/v1/applications/${applicationId}`;
  await call('POST', `${path}/refresh_authkey`, token);
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('keep-alive', 'timeout=600').end());
  });
  receiver.keepAliveTimeout = 600_000;
  t.teardown(() => receiver.close().closeAllConnections());
  await once(receiver.listen(0, '0.0.0.0'), 'listening');
  const { port } = receiver.address() as AddressInfo;
  const numberOf = async (metric: string): Promise<number> => {
    const text = await (await fetch(`${admin}/metrics`)).text();
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(metric))
        ?.split(' ')[1],
    );
  };
  for (let origin = 1; origin <= 12; origin += 1) {
    await call('PATCH', path, token, { deviceEvent: `http://127.0.0.${origin}:${port}/` });
    const taken = once(receiver, 'request');
    await call('POST', `${path}/webhooks/test`, token, { setting: 'deviceEvent' });
    await taken;
  }
  await until(async () => (await numberOf('lapel_receiver_connections_closed_total{bound="developer"}')) === 8);
  t.equal(await numberOf('lapel_receiver_connections_kept '), 4, 'one for each 64 open files');
  t.equal(await numberOf('lapel_receiver_connections_kept_limit '), 16);
});

t.test('a process that can open no more files reports it', { buffered: true, skip: missing.prlimit() }, async (t) => {
  const service = await startProcess(t, { LAPEL_DATA_DIR: t.testdir() });
  const { admin } = service.addresses;
  // This connection is open before the limit is reached. The code that reads chunks is loaded with the first of them.
  const operator = new Client(admin);
  t.teardown(() => operator.destroy());
  async function sendChunks(): Promise<number> {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
    const body = Readable.from([Buffer.from('{"developerId":')]);
    const answer = await operator.request({ method: 'POST', path: '/admin/v1/developers', headers, body });
    await answer.body.dump();
    return answer.statusCode;
  }
  const healthy = await operator.request({ method: 'GET', path: '/healthz' });
  await healthy.body.dump();
  spawnSync('prlimit', ['--nofile=20:', '--pid', String(service.pid)]);
  await service.said('the limit of open files is reached');
  t.equal(await sendChunks(), 503, 'code cannot be loaded now');
  spawnSync('prlimit', ['--nofile=400:', '--pid', String(service.pid)]);
  t.equal((await fetch(`${admin}/readyz`)).status, 200, 'and goes on when it can');
  t.equal(await sendChunks(), 400, 'with all that could not be loaded before');
});

t.test(
  'a process near its limit of open files tells it in the readiness',
  { buffered: true, skip: missing.prlimit() || (process.platform !== 'linux' && 'Linux tells the open files') },
  async (t) => {
    const service = await startProcess(t, { LAPEL_DATA_DIR: t.testdir() });
    const readyz = async () => (await fetch(`${service.addresses.admin}/readyz`)).json();
    t.same(await readyz(), { status: 'ok' });
    const open = readdirSync(`/proc/${service.pid}/fd`).length;
    spawnSync('prlimit', [`--nofile=${open + 4}:`, '--pid', String(service.pid)]);
    await until(async () => 'notes' in ((await readyz()) as object));
    t.match(await readyz(), { status: 'ok', notes: [{ part: 'files', reason: /^\d+ of \d+ open files are in use$/ }] });
  },
);
