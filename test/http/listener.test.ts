import { connect } from 'node:net';
import t from 'tap';
import { BODY_LIMIT } from '../../src/edge/http/read-body.ts';
import { until } from '../until.ts';
import { raw, startListener as start } from './listener-world.ts';

const invalid = (...details: unknown[]) => ({ reason: 'invalid request.', details });

t.test('a JSON body is parsed, checked and given to the handler', async (t) => {
  const { request } = await start(t);
  const json = { 'content-type': 'application/json; charset=utf-8' };
  t.match(await request('POST', '/echo', '{"clientId":"a"}', json), { status: 200, body: { clientId: 'a' } });
  t.match(await request('POST', '/echo', '{"clientId":"a"}'), { status: 200 }, 'also without a Content-Type');
  t.match(await request('POST', '/echo', '{"x":1}', json), {
    status: 400,
    body: { details: [{ loc: ['body', 'x'] }] },
  });
});

t.test('a missing body is a fault, unless it is optional for the route', async (t) => {
  const { request } = await start(t);
  const missing = invalid({ loc: ['body'], msg: 'Field required', type: 'missing' });
  t.match(await request('POST', '/echo'), { status: 400, body: missing });
  t.match(await request('POST', '/perhaps'), { status: 200, body: {} });
  t.match(await request('POST', '/perhaps', '[]'), { status: 400 }, 'a body that is there is checked');
});

t.test('a body that is not JSON is one fault of the body', async (t) => {
  const { request } = await start(t);
  const fault = { status: 400, body: invalid({ loc: ['body'], type: 'json_invalid' }) };
  for (const body of ['{', '{"a":1,}', 'null x', '\u0000', '\ufeff'])
    t.match(await request('POST', '/echo', body), fault, body);
  t.match(await request('POST', '/echo', Buffer.from([0x22, 0xff, 0x22])), fault, 'not UTF-8');
  t.match(await request('POST', '/echo', '{}', { 'content-type': 'text/plain' }), fault, 'another type');
  t.match(
    await request('POST', '/echo', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }),
    fault,
    'a form',
  );
  t.match(await request('POST', '/echo', '{}', { 'content-encoding': 'gzip' }), fault, 'compressed');
  t.match(await request('POST', '/perhaps', '{}', { 'content-encoding': 'Identity' }), { status: 200 });
});

t.test('a body of 1 MiB is read, a larger one is answered 413 and the connection stays usable', async (t) => {
  const { port } = await start(t);
  const body = (size: number): string => `{"clientId":"${'x'.repeat(size - 15)}"}`;
  const post = (size: number, last = ''): string =>
    `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n${last}\r\n${body(size)}`;
  const received = await raw(port, post(BODY_LIMIT), post(BODY_LIMIT + 1), post(20, 'Connection: close\r\n'));
  t.same(received.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 400', 'HTTP/1.1 413', 'HTTP/1.1 200']);
  t.match(received, '"message":"request body is larger than 1048576 bytes."');
});

t.test('a body without Content-Length is bounded too', async (t) => {
  const { port } = await start(t);
  const chunk = `${(65536).toString(16)}\r\n${'x'.repeat(65536)}\r\n`;
  const head = 'POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const next = 'GET /strict HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';
  const received = await raw(port, head, ...Array<string>(17).fill(chunk), '0\r\n\r\n', next);
  t.same(received.match(/HTTP\/1.1 \d+/g), ['HTTP/1.1 413', 'HTTP/1.1 200']);
});

t.test('a client that announces far too large a body is answered at once, and the connection is closed', async (t) => {
  const { port } = await start(t);
  const received = await raw(port, 'POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999\r\n\r\n{');
  t.match(received, /^HTTP\/1.1 413 /);
  t.match(received, /\r\nConnection: close\r\n/i);
});

t.test('a route that is not in the table is answered 403, on strict paths 405 with Allow', async (t) => {
  const { request } = await start(t);
  const wrong = { status: 403, body: { message: 'wrong url.' } };
  for (const path of ['/', '/echo/', '/Echo', '/devices/', '//', '/strict/x', '/%', '/list/..']) {
    t.match(await request('GET', path), wrong, path);
  }
  t.match(await request('PUT', '/echo', '{}'), wrong);
  t.match(await request('OPTIONS', '/echo'), wrong);
  const strict = { status: 405, headers: { allow: 'GET, DELETE' }, body: { message: 'method not allowed.' } };
  for (const method of ['PUT', 'POST', 'PATCH', 'OPTIONS']) t.match(await request(method, '/strict'), strict, method);
  t.match(await request('HEAD', '/strict'), { status: 405, body: undefined });
  t.match(await request('HEAD', '/list'), { status: 403, body: undefined });
});

t.test('targets in absolute form are served, and targets that are not URLs are wrong', async (t) => {
  const { port } = await start(t);
  const ask = (target: string): Promise<string> =>
    raw(port, `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  t.match(await ask('http://elsewhere.example/strict'), /^HTTP\/1.1 200 /);
  t.match(await ask('http://a:b:c/strict'), /^HTTP\/1.1 403 /);
  t.match(await ask('http://[/strict'), /^HTTP\/1.1 (403|400) /);
});

t.test('path parameters are checked before anything else of the request, all at once', async (t) => {
  const { request } = await start(t);
  const good = '490154203237518';
  t.match(await request('GET', `/devices/${good}/7`), { status: 200, body: { deviceId: good, transactionId: 7 } });
  t.match(await request('GET', '/devices/490154203237517/x'), {
    status: 404,
    body: {
      reason: 'invalid path parameter.',
      details: [
        { loc: ['pathParameters', 'deviceId'], type: 'string_pattern_mismatch' },
        { loc: ['pathParameters', 'transactionId'], type: 'int_type' },
      ],
    },
  });
  for (const bad of ['0', '-1', '1.5', '%31%30x', '%ZZ', '%00', '1e3', '99999999999999999999']) {
    t.match(await request('GET', `/devices/${good}/${bad}`), { status: 404 }, bad);
  }
});

t.test('a list links to its next page, until there is none', async (t) => {
  const { request } = await start(t);
  const link = async (query: string) => (await request('GET', `/list${query}`)).headers['link'];
  t.equal(await link(''), '<https://lapel.example/base/list?offset=100&limit=100>; rel="next"');
  t.equal(await link('?limit=50&offset=%35'), '<https://lapel.example/base/list?limit=50&offset=55>; rel="next"');
  t.equal(await link('?offset=149'), '<https://lapel.example/base/list?offset=249&limit=100>; rel="next"');
  t.equal(await link('?offset=150'), undefined);
  t.match(await request('GET', '/list?limit=0&offset=x'), { status: 400, body: { details: [{}, {}] } });
});

t.test('a valid request id of the caller is kept, and is in the log line', async (t) => {
  const { request, lines } = await start(t);
  const idOf = async (given: string) =>
    (await request('GET', '/strict', undefined, { 'x-request-id': given })).headers['x-request-id'];
  t.equal(await idOf('trace-1.A_b'), 'trace-1.A_b');
  t.equal(await idOf('x'.repeat(128)), 'x'.repeat(128));
  for (const bad of ['x'.repeat(129), 'a b', 'a;b', '<script>'])
    t.match(await idOf(bad), /^[\w-]{12}\.[0-9a-z]+$/, bad);
  t.match(lines[0], { requestId: 'trace-1.A_b', method: 'GET', route: '/strict', status: 200 });
});

t.test('an unforeseen error is answered without detail and logged with its cause', async (t) => {
  const { request, lines } = await start(t);
  const answer = await request('GET', '/breaks');
  t.match(answer, { status: 500, body: { message: 'internal error.' } });
  const line = lines.find(({ route }) => route === '/breaks');
  t.match(line, { level: 50, requestId: answer.headers['x-request-id'], err: { message: 'the secret reason' } });
});

t.test('metrics name the route template, never the path', async (t) => {
  const { request, metrics } = await start(t);
  await request('GET', '/devices/490154203237518/7');
  await request('GET', '/somewhere/490154203237518');
  const text = await metrics.registry.metrics();
  t.match(
    text,
    'lapel_http_requests_total{listener="api",method="GET",route="/devices/{deviceId}/{transactionId}",status="200"} 1',
  );
  t.match(text, 'route="unknown",status="403"} 1');
  t.notMatch(text, '490154203237518');
});

t.test('requests above the bound are answered 503 with Retry-After, and counted', async (t) => {
  const { request, port, held, entered, metrics } = await start(t, 1);
  const first = request('GET', '/held');
  await entered.promise;
  const refused = await raw(port, 'GET /strict HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.match(refused, /^HTTP\/1.1 503 /);
  t.match(refused, /\r\nRetry-After: 1\r\n/);
  t.match(await metrics.registry.metrics(), 'lapel_http_refused_total{bound="requests_in_flight"} 1');
  held.resolve();
  t.match(await first, { status: 200 });
  t.match(await request('GET', '/strict'), { status: 200 }, 'and are served again afterwards');
});

t.test('a client that leaves in the middle of its body disturbs no other', async (t) => {
  const { listener, request, port } = await start(t);
  const socket = connect({ host: '127.0.0.1', port });
  socket.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\n{"cli');
  t.match(await request('GET', '/strict'), { status: 200 });
  socket.destroy();
  await listener.idle();
  t.match(await request('GET', '/strict'), { status: 200 });
});

t.test('requests that come together on one connection are served one after the other, in their order', async (t) => {
  const { port, atOnce } = await start(t);
  const get = 'GET /overlap HTTP/1.1\r\nHost: a\r\n';
  const received = await raw(port, `${get}\r\n`.repeat(9), `${get}Connection: close\r\n\r\n`);
  t.same(
    [...received.matchAll(/"number":(\d+)/g)].map(([, number]) => Number(number)),
    Array.from({ length: 10 }, (_, index) => index + 1),
  );
  t.equal(atOnce.most, 1);
});

t.test('thousands of requests that come together are all answered in their order', async (t) => {
  const { port, atOnce } = await start(t);
  const get = 'GET /overlap HTTP/1.1\r\nHost: a\r\n';
  const received = await raw(port, `${get}\r\n`.repeat(4_999), `${get}Connection: close\r\n\r\n`);
  t.same(
    [...received.matchAll(/"number":(\d+)/g)].map(([, number]) => Number(number)),
    Array.from({ length: 5_000 }, (_, index) => index + 1),
  );
  t.equal(atOnce.most, 1);
});

t.test('if too many requests wait on all connections, the connection with the most is closed', async (t) => {
  const { port, metrics, held, entered } = await start(t);
  const text = `GET /held HTTP/1.1\r\nHost: a\r\n\r\n`;
  const answers = Array.from({ length: 5 }, () => raw(port, text.repeat(1000)));
  await entered.promise;
  await Promise.race(answers);
  t.match(await metrics.registry.metrics(), 'lapel_http_refused_total{bound="pipelined_requests"} 1');
  held.resolve();
});

t.test('a body in another coding than chunks is answered 501', async (t) => {
  const { port } = await start(t);
  for (const coding of ['gzip, chunked', 'identity, chunked']) {
    const answer = await raw(port, `POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n`);
    t.match(answer, /^HTTP\/1.1 501 .*Connection: close/s);
  }
});

t.test('a request that waits for the rest of its body delays no other', async (t) => {
  const { port, request, held } = await start(t, 1);
  const half = connect({ host: '127.0.0.1', port });
  t.teardown(() => half.destroy());
  half.write('POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 16\r\n\r\n{"client');
  t.match(await request('GET', '/strict'), { status: 200 });
  const other = raw(port, 'GET /held HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  half.write('Id":"a"}');
  const answer = await new Promise<Buffer>((resolve) => half.once('data', resolve));
  t.match(answer.toString(), /^HTTP\/1.1 (200|503) /, 'its work counts when it has come');
  held.resolve();
  t.match(await other, /^HTTP\/1.1 200 /);
});

t.test('each application has its own bound of requests in progress', async (t) => {
  const { request, port, held, entered, metrics } = await start(t, undefined, {
    maxInFlightOfSource: 1,
    applicationOf: () => 'busy',
  });
  const first = request('GET', '/own');
  await entered.promise;
  const refused = await raw(port, 'GET /own HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  t.match(refused, /^HTTP\/1.1 429 .*Retry-After: 1\r\n/s);
  t.match(await metrics.registry.metrics(), 'bound="requests_in_flight_per_application"} 1');
  t.match(await raw(port, 'GET /strict HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), /^HTTP\/1.1 200 /);
  held.resolve();
  t.match(await first, { status: 200 });
});

t.test(
  'a developer with many applications has at most as many requests in progress as there are places left',
  async (t) => {
    let asked = 0;
    const { port, held, metrics } = await start(t, undefined, {
      maxInFlight: 4,
      applicationOf: () => {
        asked += 1;
        return `application ${asked}`;
      },
      developerOf: () => (asked > 3 ? 'other' : 'many'),
    });
    const ask = (): Promise<string> => raw(port, 'GET /own HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    const first = [ask(), ask()];
    await until(() => asked >= 2);
    t.match(await ask(), /^HTTP\/1.1 429 .*Retry-After: 1\r\n/s);
    t.match(await metrics.registry.metrics(), 'bound="requests_in_flight_per_developer"} 1');
    const other = ask();
    await until(() => asked >= 4);
    held.resolve();
    t.match(await other, /^HTTP\/1.1 200 /, 'another developer has a place');
    for (const one of first) t.match(await one, /^HTTP\/1.1 200 /);
  },
);

t.test('a long list arrives completely, and a broken-off one is visibly incomplete', async (t) => {
  const { request, port, lines } = await start(t);
  const { body } = await request('GET', '/long');
  t.same(body, { rows: Array(20_000).fill({ number: 1, text: 'é' }), none: [], total: 20_000 });
  const broken = await raw(port, 'GET /breaks-late HTTP/1.1\r\nHost: a\r\n\r\n');
  t.match(broken, /^HTTP\/1.1 200 /);
  t.notMatch(broken, /\r\n0\r\n\r\n$/, 'its last chunk never comes');
  t.ok(lines.some(({ msg }) => msg === 'an answer could not be sent'));
});

t.test('a single-valued header with two values is refused, and so is a request without Host', async (t) => {
  const { port } = await start(t);
  const ask = (...headers: string[]): Promise<string> =>
    raw(port, `GET /strict HTTP/1.1\r\n${headers.join('\r\n')}\r\nConnection: close\r\n\r\n`);
  for (const name of ['Host', 'HOST', 'Authorization', 'Content-Type', 'Idempotency-Key']) {
    const answer = await ask('Host: a', `${name}: b`, ...(name === 'Host' ? [] : [`${name.toLowerCase()}: b`]));
    t.match(answer, /^HTTP\/1.1 400 .*Lapel-Error-Code: REQUEST_INVALID\r\n.*"Header should be given once"/s, name);
  }
  t.match(await ask('Host: a', 'Accept: b', 'Accept: c'), /^HTTP\/1.1 200 /);
  t.match(
    await ask('Accept: b'),
    /^HTTP\/1.1 400 .*Lapel-Error-Code: REQUEST_INVALID\r\n.*"loc":\["header","Host"\],"msg":"Field required"/s,
  );
  t.match(await raw(port, 'GET /strict HTTP/1.0\r\n\r\n'), /^HTTP\/1.1 200 /, 'HTTP/1.0 has none');
  t.match(await ask('Host: a', 'Expect: miracles'), /^HTTP\/1.1 200 /, 'an expectation that nobody knows is none');
});

t.test('a query that a route does not know is refused, also where it knows none', async (t) => {
  const { request } = await start(t);
  const unknown = (name: string) => ({
    loc: ['query', name],
    msg: 'Extra inputs are not permitted',
    type: 'extra_forbidden',
  });
  for (const path of ['/strict', '/list']) {
    t.match(await request('GET', `${path}?connected=true`), {
      status: 400,
      headers: { 'lapel-error-code': 'REQUEST_INVALID' },
      body: { details: [unknown('connected')] },
    });
  }
  t.match(await request('GET', '/strict?'), { status: 200 });
  t.match((await request('GET', '/list?__proto__=1&toString=2')).body, {
    details: [unknown('__proto__'), unknown('toString')],
  });
});
