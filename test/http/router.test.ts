import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { toDomainError } from '@lapel/schemas/contracts/errors';
import Koa from 'koa';
import t from 'tap';
import { Client } from 'undici';
import { createRouter } from '../../src/edge/http/router.ts';

const line = (method: 'GET' | 'PATCH' | 'POST' | 'PUT', path: string) => ({ method, path });
const LINES = [
  line('GET', '/v1/apps/{applicationId}'),
  line('PATCH', '/v1/apps/{applicationId}'),
  line('GET', '/v1/apps/{applicationId}/devices/{deviceId}'),
  line('POST', '/v1/apps/{applicationId}/devices/{deviceId}'),
  line('PUT', '/v1/apps/{applicationId}/devices/{deviceId}/apps'),
  line('GET', '/v1/apps/{applicationId}/devices/status'),
  line('GET', '/healthz'),
  line('POST', '/healthz'),
  { ...line('GET', '/docs'), head: true as const },
  { ...line('GET', '/pages'), head: true as const, below: true as const },
  line('POST', '/pages/session'),
];

/** The decision of a router: the route with its parameters, or the code of the error. */
const dispatch = createRouter({
  lines: LINES,
  strictPaths: ['/healthz'],
  async serve(context, { method, path }, params) {
    context.body = [`${method} ${path}`, Object.entries(params)];
  },
});
const koa = new Koa().use(async (context) => {
  await dispatch(context, context.req.url ?? '').catch((thrown: unknown) => {
    const { code, values } = toDomainError(thrown);
    context.body = [code, Object.entries(values)];
  });
});
const answer = koa.callback();
const server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const client = new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
t.teardown(async () => {
  await client.close();
  server.close();
});
async function found(path: string, method = 'GET'): Promise<unknown> {
  const { body } = await client.request({ method: method as 'GET', path });
  return body.json();
}

t.test('a path finds its route and its parameters, in the order of the path', async (t) => {
  t.same(await found('/v1/apps/one/devices/two'), [
    'GET /v1/apps/{applicationId}/devices/{deviceId}',
    [
      ['applicationId', 'one'],
      ['deviceId', 'two'],
    ],
  ]);
  t.same(await found('/v1/apps/one', 'PATCH'), ['PATCH /v1/apps/{applicationId}', [['applicationId', 'one']]]);
});

t.test('a tree answers every path below its own that no other route has', async (t) => {
  for (const path of ['/pages', '/pages/', '/pages/a/b/c', '/pages/sessions'])
    t.same(await found(path), ['GET /pages', []], path);
  t.same(await found('/pages/session', 'POST'), ['POST /pages/session', []]);
  for (const [method, path] of [
    ['GET', '/pages/session'],
    ['POST', '/pages/a'],
    ['GET', '/pagesession'],
  ] as const)
    t.same(await found(path, method), ['WRONG_URL', []], `${method} ${path}`);
});

t.test('a fixed segment wins over a parameter where it has the method, and only there', async (t) => {
  const fixed = ['GET /v1/apps/{applicationId}/devices/status', [['applicationId', 'one']]];
  t.same(await found('/v1/apps/one/devices/status'), fixed);
  const params = [
    ['applicationId', 'one'],
    ['deviceId', 'status'],
  ];
  const path = '/v1/apps/{applicationId}/devices/{deviceId}';
  t.same(await found('/v1/apps/one/devices/status', 'POST'), [`POST ${path}`, params]);
  t.same(await found('/v1/apps/one/devices/status/apps', 'PUT'), [`PUT ${path}/apps`, params]);
  t.match(await found('/v1/apps/one/devices/status/none'), ['WRONG_URL']);
});

t.test('an unknown method of a path is a wrong URL, or gets Allow', async (t) => {
  t.same(await found('/v1/apps/one', 'DELETE'), ['WRONG_URL', []]);
  t.same(await found('/healthz', 'DELETE'), ['METHOD_NOT_ALLOWED', [['allow', 'GET, POST']]]);
  t.equal(
    (await client.request({ method: 'HEAD', path: '/docs' })).headers['content-length'],
    String('["GET /docs",[]]'.length),
  );
  const refused = await client.request({ method: 'HEAD', path: '/v1/apps/one' });
  t.equal(refused.headers['content-length'], String('["WRONG_URL",[]]'.length), 'HEAD comes with no GET by itself');
});

t.test('nothing else is found', async (t) => {
  for (const path of ['/', '//', '/v1', '/v1/apps', '/v1/apps/', '/v1/apps//devices/x', '/healthz/', '/Healthz']) {
    t.same(await found(path), ['WRONG_URL', []], path);
  }
  t.same(await found('/v1/apps/one/devices/two/'), ['WRONG_URL', []], 'with a slash at its end');
  t.same(await found('/v1/apps/one/two'), ['WRONG_URL', []]);
  t.same(await found('/__proto__'), ['WRONG_URL', []]);
});

t.test('parameters are percent-decoded, slashes too; an undecodable one stays unchanged', async (t) => {
  for (const [segment, value] of [
    ['a%2Fb%20c', 'a/b c'],
    ['%ZZ', '%ZZ'],
    ['%ff', '%ff'],
  ]) {
    t.same(await found(`/v1/apps/${segment}`), ['GET /v1/apps/{applicationId}', [['applicationId', value]]]);
  }
});

t.test('a table with the same line twice, or two names for one place, is refused at start', async (t) => {
  const make = (...paths: string[]) =>
    createRouter({ lines: paths.map((path) => line('GET', path)), strictPaths: [], serve: async () => undefined });
  t.throws(() => make('/a', '/a'), /two routes/);
  t.throws(() => make('/a/{x}', '/a/{y}/b'), /two names/);
});
