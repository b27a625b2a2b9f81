import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The part of the administration API that registration needs (contract, section 5). */
export async function startAdmin(token: string) {
  const developers = new Map<string, unknown>();
  const devices = new Map<string, string>();
  const requests: string[] = [];
  let made = 0;
  const newCredential = (): string => {
    made += 1;
    return `credential ${made}`;
  };
  let running = 0;
  let mostAtOnce = 0;

  function answer(method: string, path: string, body: Record<string, unknown>): [number, object] {
    const [, , , collection, id = ''] = path.split('/');
    if (collection === 'developers' && method === 'GET')
      return developers.has(id) ? [200, {}] : [404, { message: 'no' }];
    if (collection === 'developers') {
      developers.set(String(body['developerId']), body);
      return [201, body];
    }
    return [404, { message: 'no' }];
  }

  /** `POST .../devices/import`: a line for each device. */
  const importLine = (text: string): string => {
    const { deviceId } = JSON.parse(text) as { deviceId: string };
    if (devices.has(deviceId)) return JSON.stringify({ line: 1, error: { message: 'device already exists.' } });
    devices.set(deviceId, newCredential());
    return JSON.stringify({ line: 1, deviceId, credential: devices.get(deviceId) });
  };

  const server = createServer((request, response) => {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    const { method = '', url = '' } = request;
    requests.push(`${method} ${url}`);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const allowed = request.headers.authorization === `Bearer ${token}`;
      if (allowed && url.endsWith('/devices/import')) {
        const lines = Buffer.concat(chunks).toString().trim().split('\n');
        running -= 1;
        response.writeHead(200).end(lines.map(importLine).join('\n'));
        return;
      }
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}') as Record<string, unknown>;
      const [status, reply] = allowed ? answer(method, url, body) : [401, { message: 'unauthorized.' }];
      running -= 1;
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    developers,
    devices,
    requests,
    mostAtOnce: () => mostAtOnce,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
