import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectBenchDevice } from './bench-device.ts';
import { createReceiver, type Target } from './closed-loop.ts';

export interface RunningTarget extends Target {
  /** The administration address, where there is one. */
  admin?: string;
  /** Seconds of processor time that the service has used. */
  cpuSeconds(): number;
  close(): Promise<void>;
}

const ROOT = join(import.meta.dirname, '..');
// The kernel's clock tick: 100 per second on every Linux that Node runs on.
const TICKS_PER_SECOND = 100;

function cpuSecondsOf(child: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  } catch {
    return Number.NaN; // not Linux
  }
}

/** Starts a process and answers the first line that it prints, as JSON. */
async function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const line = await new Promise<string>((resolve, reject) => {
    child.once('exit', (code) => reject(new Error(`${args.join(' ')} ended with ${code}`)));
    child.stdout.once('data', (chunk: Buffer) => resolve(chunk.toString()));
  });
  return { child, addresses: JSON.parse(line) as Record<string, string> };
}

const stop = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });

/** Device identifiers with their Luhn check digit. */
function deviceIds(count: number): string[] {
  return Array.from({ length: count }, (_, index) => {
    const body = `35700000${String(index).padStart(6, '0')}`;
    let sum = 0;
    for (let position = 0; position < 14; position += 1) {
      const digit = Number(body[position]) * (position % 2 === 1 ? 2 : 1);
      sum += digit > 9 ? digit - 9 : digit;
    }
    return `${body}${(10 - (sum % 10)) % 10}`;
  });
}

async function connectAll(port: number, ids: string[], credentialOf: (id: string) => string) {
  const sockets = [];
  for (const deviceId of ids)
    sockets.push(await connectBenchDevice({ port, deviceId, credential: credentialOf(deviceId) }));
  return sockets;
}

export async function startFloor(count: number): Promise<RunningTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-floor-'));
  const receiver = await createReceiver();
  const { child, addresses } = await start(['bench/floor.ts', folder, receiver.url]);
  const ids = deviceIds(count);
  const sockets = await connectAll(Number(addresses['mqtt']), ids, () => 'none');
  return {
    origin: `http://127.0.0.1:${addresses['http']}`,
    headers: {},
    path: (deviceId) => `/v1/applications/bench/devices/${deviceId}/settings/wifi`,
    deviceIds: ids,
    receiver,
    cpuSeconds: () => cpuSecondsOf(child),
    async close() {
      for (const socket of sockets) socket.destroy();
      await stop(child);
      receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export async function startLapel(count: number): Promise<RunningTarget> {
  const folder = mkdtempSync(join(tmpdir(), 'lapel-bench-'));
  const receiver = await createReceiver();
  const settings = [
    '--data-dir',
    folder,
    '--http-port',
    '0',
    '--admin-port',
    '0',
    '--mqtt-port',
    '0',
    '--objects-port',
    '0',
  ];
  const { child, addresses } = await start(['src/main.ts', 'serve', ...settings, '--log-level', 'warn'], {
    LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true',
    LAPEL_RATE_LIMIT: '1000000', // counted, and never reached
  });
  const { http = '', admin = '', mqtt = '' } = addresses;
  const call = async (url: string, method: string, token: string, body?: unknown, type = 'application/json') => {
    const headers = { authorization: token, ...(body === undefined ? {} : { 'content-type': type }) };
    const text = body === undefined ? null : typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await fetch(url, { method, headers, body: text });
    if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`);
    const answered = await answer.text();
    return answered === '' ? {} : (JSON.parse(answered) as Record<string, string>);
  };

  const root = `Bearer ${readFileSync(join(folder, 'admin-token'), 'utf8').trim()}`;
  await call(`${admin}/admin/v1/developers`, 'POST', root, { developerId: 'bench', name: 'bench', deviceLimit: count });
  const wanted = { applicationId: 'bench', name: 'bench' };
  const { secret } = await call(`${admin}/admin/v1/developers/bench/applications`, 'POST', root, wanted);
  const basic = `Basic ${Buffer.from(`bench:${secret}`).toString('base64')}`;
  const scope = 'svc:application:read svc:application:write svc:device:read svc:device:write';
  const form = new URLSearchParams({ grant_type: 'client_credentials', scope }).toString();
  const token = await call(`${http}/api/v1/authenticate`, 'POST', basic, form, 'application/x-www-form-urlencoded');
  const bearer = `Bearer ${token['access_token']}`;
  const base = `${http}/v1/applications/bench`;
  await call(`${base}/refresh_authkey`, 'POST', bearer);
  await call(base, 'PATCH', bearer, { deviceEvent: receiver.url });

  const ids = deviceIds(count);
  const credentials = new Map<string, string>();
  for (const deviceId of ids) {
    const made = await call(`${admin}/admin/v1/developers/bench/devices`, 'POST', root, { deviceId });
    credentials.set(deviceId, made['credential'] ?? '');
  }
  const sockets = await connectAll(Number(new URL(mqtt).port), ids, (id) => credentials.get(id) ?? '');
  for (const deviceId of ids) {
    const { transactionId } = await call(`${base}/devices/${deviceId}`, 'POST', bearer, {});
    await receiver.result(Number(transactionId));
  }
  return {
    origin: http,
    admin,
    headers: { authorization: bearer },
    path: (deviceId) => `/v1/applications/bench/devices/${deviceId}/settings/wifi`,
    deviceIds: ids,
    receiver,
    cpuSeconds: () => cpuSecondsOf(child),
    async close() {
      for (const socket of sockets) socket.destroy();
      await stop(child);
      receiver.close();
      rmSync(folder, { recursive: true });
    },
  };
}
