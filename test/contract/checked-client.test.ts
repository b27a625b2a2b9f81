import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { type CheckedAnswer, createClient, problemsOf } from './checked-client.ts';

const headers = { 'x-request-id': 'a', 'content-type': 'application/json; charset=utf-8' };
const wrong = { ...headers, 'lapel-error-code': 'WRONG_URL' };
const path = '/v1/applications/app/devices/490154203237518';
const problems = (method: string, target: string, answer: Partial<CheckedAnswer>): string[] =>
  problemsOf(method, target, { status: 200, headers, body: undefined, ...answer });

t.test('a documented answer has no problems', async (t) => {
  t.same(problems('GET', path, { body: { status: 'deactivated' } }), []);
  t.same(problems('DELETE', `${path}/transactions/1`, { status: 204, headers: { 'x-request-id': 'a' } }), []);
  t.same(problems('GET', '/nowhere', { status: 403, headers: wrong, body: { message: 'wrong url.' } }), []);
});

t.test('a status that is not documented is a problem', async (t) => {
  t.match(problems('GET', path, { status: 418, body: { message: 'x' } }), [/418 is not documented/]);
  t.match(problems('GET', '/nowhere', { status: 404, body: { message: 'x' } }), [/Lapel-Error-Code/, /not documented/]);
});

t.test('a body that breaks its schema, is missing, or should not be there is a problem', async (t) => {
  t.match(problems('GET', path, { body: { status: 'activated' } }), [/clientId/]);
  t.match(problems('GET', path, { body: { status: 'deactivated', more: 1 } }), [/more/]);
  t.match(problems('GET', path, {}), [/rest\/activation-status/]);
  t.match(problems('DELETE', `${path}/transactions/1`, { status: 204, body: {} }), [/no body/]);
  t.match(problems('GET', path, { headers: { ...headers, 'content-type': 'text/html' }, body: '' }), [/text\/html/]);
});

t.test('where two error shapes are documented, an answer has exactly one of them', async (t) => {
  const answer = (body: unknown, code = 'NOTIFICATION_NOT_CONFIGURED'): string[] =>
    problems('POST', path, { status: 404, headers: { ...headers, 'lapel-error-code': code }, body });
  t.same(answer({ message: 'x' }), []);
  t.same(answer({ reason: 'x', details: [] }, 'PATH_PARAMETER_INVALID'), []);
  t.not(answer({ reason: 'x', message: 'y', details: [] }).length, 0);
});

t.test('an error without its code, or with that of another error, is a problem', async (t) => {
  const refused = (code: Record<string, string>): string[] =>
    problems('GET', path, { status: 403, headers: { ...headers, ...code }, body: { message: 'x' } });
  t.same(refused({ 'lapel-error-code': 'DEVICE_UNAVAILABLE' }), []);
  t.match(refused({}), [/Lapel-Error-Code/]);
  t.match(refused({ 'lapel-error-code': 'NO_SUCH_CODE' }), [/NO_SUCH_CODE/]);
  t.match(refused({ 'lapel-error-code': 'PACKAGE_EXISTS' }), [/PACKAGE_EXISTS/]);
});

t.test('a missing header is a problem', async (t) => {
  const body = { transactionId: 1 };
  t.match(problems('POST', path, { status: 201, body }), [/Location is missing/]);
  t.match(problems('GET', path, { status: 401, body: { message: 'x' } }), [
    /Lapel-Error-Code/,
    /WWW-Authenticate is missing/,
  ]);
  t.match(problems('GET', path, { headers: {}, body: { status: 'deactivated' } }), [/X-Request-Id/, /content type/]);
  t.match(problems('PUT', path, { status: 405, body: { message: 'x' } }), [/Lapel-Error-Code/, /Allow/]);
});

t.test('a test that has not looked at a refusal that may pass can ask nothing more', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(503, {
      'x-request-id': 'a',
      'content-type': 'application/json',
      'lapel-error-code': 'OVERLOADED',
      'retry-after': '1',
    });
    response.end('{"message":"the service is at its limit; try again later."}');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const client = createClient({ baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  t.teardown(() => client[Symbol.asyncDispose]());
  t.equal((await client.get(path)).status, 503, 'the test looks');
  await client.get(path);
  await t.rejects(client.get(path), { message: /not looked at a refusal: GET .*503/ });
});
