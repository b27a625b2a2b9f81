// npm run try -- proxies: starts the service behind nginx, HAProxy and Caddy, each with its example of deploy/, and sends a
// command on its whole way through the proxy: call, device, acknowledgement, webhook. Then come a stream of the console,
// an upload, and a flood from one address. Log, audit log and connections must name the clients, which have addresses of
// their own on loopback. It needs Debian's packages nginx, libnginx-mod-stream, haproxy and caddy, and takes half a
// minute, so it is not part of `npm test`.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { createAuthority } from '../../test/broker/authority.ts';
import { ADMIN_TOKEN, startProcess } from '../../test/flow/service-process.ts';
import {
  exampleOf,
  missingProxy,
  PROXIES,
  PROXY_ENV,
  type ProxyName,
  settingsOf,
} from '../../test/operations/proxy-files.ts';
import { openRawDevice } from '../../test/raw-device.ts';
import { freePorts } from '../harness/free-port.ts';

const DEVICE = '490154203237518';
/** The addresses of the clients. */
const [CALLER, DEVICE_AT, FLOOD, QUIET] = ['127.0.0.20', '127.0.0.21', '127.0.0.30', '127.0.0.31'] as const;
/** Requests of the flood: more than any example allows at once. */
const FLOODED = 1500;
const LONGEST = 120_000;

const signal = AbortSignal.timeout(LONGEST);
const print = (line: string): void => void process.stdout.write(`${line}\n`);

function require(isGood: boolean, what: string): void {
  if (!isGood) throw new Error(`not so: ${what}`);
}

async function until<Result>(what: string, look: () => Promise<Result | undefined>): Promise<Result> {
  for (;;) {
    const result = await look().catch(() => undefined);
    if (result !== undefined) return result;
    if (signal.aborted) throw new Error(`after ${LONGEST / 1000} s: ${what}`);
    await pause(100);
  }
}

/** The ports of the service and of the proxy, by their number in the examples. */
async function findPorts() {
  const wanted = [443, 8883, 8080, 8081, 8082, 1883, 8083, 8884, 9464];
  const free = await freePorts(wanted.length);
  return Object.fromEntries(wanted.map((port, index) => [port, free[index]!]));
}

interface Site {
  name: ProxyName;
  folder: string;
  ca: Buffer;
  ports: Record<number, number>;
  ends: (() => unknown)[];
}

/** How a client at an address reaches the proxy: every name leads to this machine. */
const connectFrom = ({ ca }: Site, localAddress: string) => ({
  ca,
  localAddress,
  checkServerIdentity: () => undefined,
  lookup: (_name: string, options: { all?: boolean }, done: (...found: unknown[]) => void) =>
    options.all ? done(null, [{ address: '127.0.0.1', family: 4 }]) : done(null, '127.0.0.1', 4),
});

/** A client at an address. */
function clientAt(site: Site, localAddress: string, connections = 8) {
  const agent = new Agent({ connections, localAddress, connect: connectFrom(site, localAddress) as object });
  site.ends.push(() => agent.destroy());
  return async (method: 'GET' | 'POST' | 'PATCH' | 'PUT', url: string, { token = '', json, body, form }: Sent = {}) => {
    const answer = await request(url, {
      method,
      dispatcher: agent,
      headers: {
        ...(token && { authorization: token.startsWith('Basic ') ? token : `Bearer ${token}` }),
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(form !== undefined && { 'content-type': 'application/x-www-form-urlencoded' }),
        // The service must not believe the claims of a client.
        'x-forwarded-for': '6.6.6.6',
        forwarded: 'for=6.6.6.6',
      },
      body: json === undefined ? (form ?? body ?? null) : JSON.stringify(json),
    });
    return answer;
  };
}
interface Sent {
  token?: string;
  json?: object;
  body?: string;
  form?: string;
}

/** Starts the service with the settings in the head of the example. */
async function startService(site: Site, cert: string, key: string) {
  const { name, folder, ports, ends } = site;
  const urls = Object.entries(settingsOf(name)).map(([setting, value]) => {
    if (!/^(https|wss):/.test(value)) return [setting, value.replace(/:8883$/, `:${ports[8883]}`)];
    return [setting, `${value}:${ports[443]}`];
  });
  const tls = ['LAPEL_HTTP_TLS', 'LAPEL_ADMIN_TLS', 'LAPEL_OBJECTS_TLS', 'LAPEL_TLS'].flatMap((prefix) => [
    [`${prefix}_CERT`, cert],
    [`${prefix}_KEY`, key],
  ]);
  const env: Record<string, string> = {
    ...Object.fromEntries([...urls, ...(name === 'haproxy' ? tls : [])]),
    LAPEL_DATA_DIR: join(folder, 'data'),
    LAPEL_HTTP_PORT: String(ports[8080]),
    LAPEL_ADMIN_PORT: String(ports[8081]),
    LAPEL_OBJECTS_PORT: String(ports[8082]),
    LAPEL_MQTT_PORT: String(ports[1883]),
    LAPEL_LOG_LEVEL: 'info',
  };
  if (name === 'haproxy') Object.assign(env, { LAPEL_MQTTS_PORT: ports[8884], LAPEL_METRICS_PORT: ports[9464] });
  if (name === 'caddy') env['LAPEL_MQTT_WS_PORT'] = String(ports[8083]);
  return startProcess({ teardown: (end) => void ends.push(end as () => unknown) }, env);
}

function startProxy({ name, folder, ends }: Site, config: string): void {
  const [program = '', ...args] = PROXIES[name].run(config);
  const child = spawn(program, args, { env: { ...PROXY_ENV, HOME: folder }, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
  });
  let isEnding = false;
  child.once('close', (code) => {
    if (!isEnding) process.stderr.write(`${name} ended with ${code}: ${said}\n`);
  });
  ends.push(async () => {
    isEnding = true;
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'close');
  });
}

async function startReceiver({ ends }: Site) {
  const arrived = Promise.withResolvers<string>();
  const server = createServer((asked, answer) => {
    let text = '';
    asked.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    asked.on('end', () => {
      answer.end();
      if (text.includes('transaction.succeeded')) arrived.resolve(text);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(
    () => server.closeAllConnections(),
    () => server.close(),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, arrived: arrived.promise };
}

async function tryProxy(site: Site): Promise<void> {
  const { name, folder, ports } = site;
  mkdirSync(join(folder, 'tls'), { recursive: true });
  const authority = createAuthority(join(folder, 'tls'), 'site');
  const { certFile: cert, keyFile: key } = authority.sign('example.com');
  site.ca = readFileSync(authority.ca);
  const config = join(folder, PROXIES[name].file);
  writeFileSync(config, exampleOf(name, { folder, cert, key, ports }));
  const service = await startService(site, cert, key);
  startProxy(site, config);
  const [api, console, objects] = ['api', 'console', 'objects'].map((of) => `https://${of}.example.com:${ports[443]}`);
  const call = clientAt(site, CALLER);
  await until(`${name} does not serve`, async () => {
    const { statusCode, body } = await call('GET', `${console}/readyz`);
    await body.dump();
    return statusCode === 200 || undefined;
  });
  const json = async (...asked: Parameters<typeof call>) => {
    const { statusCode, body } = await call(...asked);
    const text = await body.text();
    require(statusCode < 300, `${asked[0]} ${asked[1]}: ${statusCode} ${text}`);
    // biome-ignore lint/suspicious/noExplicitAny: the shapes are those of the documents
    return (text === '' ? {} : JSON.parse(text)) as any;
  };
  const asAdmin = { token: ADMIN_TOKEN };

  // 1. A ring, with the stream of changes of the console beside it.
  await json('POST', `${console}/admin/v1/developers`, {
    ...asAdmin,
    json: { developerId: 'dev', name: 'dev', deviceLimit: 5 },
  });
  const { secret } = await json('POST', `${console}/admin/v1/developers/dev/applications`, {
    ...asAdmin,
    json: { applicationId: 'app', name: 'app' },
  });
  const { credential } = await json('POST', `${console}/admin/v1/developers/dev/devices`, {
    ...asAdmin,
    json: { deviceId: DEVICE },
  });
  const { access_token: token } = await json('POST', `${api}/api/v1/authenticate`, {
    token: `Basic ${Buffer.from(`app:${secret}`).toString('base64')}`,
    form: 'grant_type=client_credentials&scope=svc:application:read svc:application:write svc:device:read svc:device:write',
  });
  const own = `${api}/v1/applications/app`;
  await json('POST', `${own}/refresh_authkey`, { token });
  const receiver = await startReceiver(site);
  await json('PATCH', own, { token, json: { deviceEvent: receiver.url } });
  const feed = await call('GET', `${console}/admin/v1/feed?topics=transactions`, asAdmin);
  let streamed = '';
  feed.body
    .on('error', () => undefined)
    .on('data', (chunk: Buffer) => {
      streamed += chunk.toString();
    });
  const mqtt = name === 'caddy' ? `wss://mqtt.example.com:${ports[443]}` : `mqtts://mqtt.example.com:${ports[8883]}`;
  const link = await openRawDevice({
    url: mqtt,
    deviceId: DEVICE,
    credential: credential as string,
    tls: { servername: 'mqtt.example.com', ...connectFrom(site, DEVICE_AT) } as object,
  });
  site.ends.push(() => link.socket.destroy());
  require((await link.login()).returnCode === 0, 'the device logs in');
  await link.subscribe(`devices/${DEVICE}/commands`);
  await json('POST', `${own}/devices/${DEVICE}`, { token, json: {} });
  const command = await link.command();
  link.puback(command.packet);
  await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
  await receiver.arrived;
  print(`${name}: a call became a command, its acknowledgement and a webhook`);
  await until('the stream tells of it', async () => streamed.includes(String(command.transactionId)) || undefined);
  feed.body.destroy();
  print(`${name}: the stream of the console told of it while it was open`);

  // 2. An upload.
  await json('POST', `${own}/packages`, { token, json: { package: 'com.example.app' } });
  await json('POST', `${own}/packages/com.example.app/versions`, { token, json: { version: '1.0.0' } });
  const { urlList } = await json('POST', `${own}/packages/com.example.app/versions/1.0.0/binaries`, { token });
  const { uploadUrl } = urlList[0] as { uploadUrl: string };
  require(uploadUrl.startsWith(objects!), `${uploadUrl} leads to the proxy`);
  const stored = await call('PUT', uploadUrl, { body: 'x'.repeat(3_000_000) });
  require(stored.statusCode === 200, `an upload: ${stored.statusCode} ${await stored.body.text()}`);
  print(`${name}: an upload of 3 MB was stored`);

  // 3. The addresses.
  const { entries } = await json('GET', `${console}/admin/v1/audit`, asAdmin);
  for (const { address, action } of entries as { address: string; action: string }[]) {
    require(address === CALLER, `the audit log has ${address} for ${action}`);
  }
  const connection = await json('GET', `${console}/admin/v1/devices/${DEVICE}/connection`, asAdmin);
  require(connection.address === DEVICE_AT, `the device is at ${connection.address}`);
  const wrong = await call('GET', own, { token: 'wrong' });
  await wrong.body.dump();
  await until(
    'the log names the client',
    async () => service.output.stderr.includes(`"address":"${CALLER}"`) || undefined,
  );
  require(!service.output.stderr.includes('6.6.6.6'), 'what a client claims is not believed');
  print(`${name}: audit log, log and connection name ${CALLER} and ${DEVICE_AT}`);

  // 4. A flood of one address.
  const flood = clientAt(site, FLOOD, 400);
  const ask = async (): Promise<number> => {
    try {
      const { statusCode, body } = await flood('GET', `${api}/openapi.json`);
      await body.dump({ limit: 16_000_000 });
      return statusCode;
    } catch {
      return 0; // the connection was closed
    }
  };
  const floods = Promise.all(Array.from({ length: FLOODED }, ask));
  const quiet = clientAt(site, QUIET);
  const statuses = new Set<number>();
  for (let count = 0; count < 20; count += 1) {
    const { statusCode, body } = await quiet('GET', own, { token });
    await body.dump();
    statuses.add(statusCode);
  }
  require([...statuses].join() === '200', `the quiet client is served: ${[...statuses].join()}`);
  const all = await floods;
  const [served, refused, closed] = [200, 429, 0].map((status) => all.filter((one) => one === status).length);
  require(served! + refused! + closed! === FLOODED, `${[...new Set(all)].join()} are the answers to the flood`);
  // How many depends on the speed of the machine, because some bounds are per second.
  require(served! > 0 && refused! + closed! >= 100, `a flood is refused: ${served} were served`);
  const words = `${served} were served, ${refused} answered 429 and ${closed} closed`;
  print(`${name}: of ${FLOODED} downloads for ${FLOOD} ${words}; ${QUIET} was always served`);
}

for (const name of Object.keys(PROXIES) as ProxyName[]) {
  const absent = missingProxy(name);
  if (absent !== false) {
    process.stderr.write(`try -- proxies: ${absent}\n`);
    process.exitCode = 2;
    continue;
  }
  const folder = mkdtempSync(join(tmpdir(), `lapel-${name}-`));
  const site: Site = { name, folder, ca: Buffer.alloc(0), ports: await findPorts(), ends: [] };
  try {
    await tryProxy(site);
  } finally {
    for (const end of site.ends.reverse()) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}
