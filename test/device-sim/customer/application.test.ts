import { EventEmitter, once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { createApplication } from '../../../device-sim/customer/application.ts';
import type { Fleet } from '../../../device-sim/fleet/fleet.ts';
import type { Device } from '../../../device-sim/model/device.ts';
import type { DeviceEvents } from '../../../device-sim/model/device-events.ts';

type Route = (method: string, path: string, token: string) => [number, object, Record<string, string>?];

/** A token endpoint that numbers its tokens, and what `route` says for everything else. */
async function startApi(route: Route) {
  let tokens = 0;
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    request.resume();
    if (url === '/api/v1/authenticate') tokens += 1;
    const [status, body, more = {}] =
      url === '/api/v1/authenticate'
        ? [200, { access_token: `token ${tokens}`, token_type: 'bearer', expires_in: 3600 }]
        : route(method, url, headers.authorization?.replace('Bearer ', '') ?? '');
    response.writeHead(status, { 'content-type': 'application/json', ...more }).end(JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tokens: () => tokens,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const application = (apiUrl: string, now = () => 0, rest = async (_milliseconds: number) => {}) =>
  createApplication({ apiUrl, applicationId: 'app', secret: 'secret', now, rest });

t.test('one token serves all requests until its last minute', async (t) => {
  let time = 0;
  await using api = await startApi(() => [201, { transactionId: 4 }]);
  const app = application(api.url, () => time);
  t.strictSame(await Promise.all([app.setWifi('1', 'a'), app.setWifi('2', 'a')]), [
    { transactionId: 4 },
    { transactionId: 4 },
  ]);
  t.equal(api.tokens(), 1);
  time = 3_540_000;
  await app.setWifi('1', 'a');
  t.equal(api.tokens(), 2);
});

t.test('a token that is refused before its time is replaced once', async (t) => {
  await using api = await startApi((_method, _path, token) =>
    token === 'token 1' ? [401, {}] : [201, { transactionId: 4 }],
  );
  const app = application(api.url);
  t.strictSame(await app.setWifi('1', 'a'), { transactionId: 4 });
  t.strictSame(await app.setWifi('1', 'a'), { transactionId: 4 });
  t.equal(api.tokens(), 2);
});

t.test('a refusal is given by its status', async (t) => {
  await using api = await startApi(() => [403, { message: 'device is not activated.' }]);
  t.strictSame(await application(api.url).setWifi('1', 'a'), { refusal: 403 });
});

t.test('activation passes over activated devices, and waits for what the others answered', async (t) => {
  const remembered: unknown[] = [];
  const device = (deviceId: string) =>
    ({
      deviceId,
      events: new EventEmitter<DeviceEvents>(),
      rememberActivation: (activation: unknown) => remembered.push(deviceId, activation),
    }) as unknown as Device;
  const devices = [device('1'), device('2'), device('3')];
  await using api = await startApi((method, path) => {
    if (method === 'GET')
      return [200, path.endsWith('/1') ? { status: 'activated', clientId: 'c1' } : { status: 'deactivated' }];
    const transactionId = Number(path.at(-1));
    // Before the answer to the request is out.
    const status = transactionId === 2 ? 'succeeded' : 'failed';
    devices[transactionId - 1]?.events.emit('acknowledged', { transactionId, status });
    return [201, { transactionId }];
  });
  t.strictSame(await application(api.url).activate({ devices } as unknown as Fleet), devices.slice(0, 2));
  t.strictSame(remembered, ['1', { applicationId: 'app', clientId: 'c1' }], 'who had forgotten knows it again');
});

t.test('an activation waits as long as a busy service says; a load does not', async (t) => {
  let asked = 0;
  await using api = await startApi((method) => {
    asked += 1;
    if (method === 'PUT' || asked < 3) return [429, { message: 'too many requests' }, { 'retry-after': '7' }];
    return [200, { status: 'activated', clientId: 'c' }];
  });
  const rests: number[] = [];
  const app = application(
    api.url,
    () => 0,
    async (milliseconds) => void rests.push(milliseconds),
  );
  const devices = [{ deviceId: '1', events: new EventEmitter(), rememberActivation: () => {} }] as unknown as Device[];
  t.strictSame(await app.activate({ devices } as unknown as Fleet), devices);
  t.strictSame(rests, [7000, 7000]);
  t.strictSame(await app.setWifi('1', 'a'), { refusal: 429 });
});

t.test('an activation that is refused is said in words', async (t) => {
  await using api = await startApi((method) =>
    method === 'GET' ? [200, { status: 'deactivated' }] : [404, { message: 'deviceEvent is not set.' }],
  );
  const devices = [{ deviceId: '1', events: new EventEmitter() }] as unknown as Device[];
  await t.rejects(application(api.url).activate({ devices } as unknown as Fleet), {
    message: 'cannot activate 1: 404 deviceEvent is not set.',
  });
  await t.rejects(application('http://127.0.0.1:9').activate({ devices } as unknown as Fleet), {
    message: /^cannot reach http:\/\/127\.0\.0\.1:9: /,
  });
});
