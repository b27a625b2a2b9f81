import t from 'tap';
import { createRouteMatcher } from '../../src/http/route-matcher.ts';

const match = createRouteMatcher([
  { method: 'GET', path: '/v1/apps/{applicationId}' },
  { method: 'PATCH', path: '/v1/apps/{applicationId}' },
  { method: 'GET', path: '/v1/apps/{applicationId}/devices/{deviceId}' },
  { method: 'POST', path: '/v1/apps/{applicationId}/devices/{deviceId}' },
  { method: 'PUT', path: '/v1/apps/{applicationId}/devices/{deviceId}/apps' },
  { method: 'GET', path: '/v1/apps/{applicationId}/devices/status' },
  { method: 'GET', path: '/healthz' },
]);
const found = (path: string, method = 'GET'): string | undefined => {
  const result = match(method, path);
  return result && [...new Set([...result.methods.values()].map((line) => line.path))].join();
};

t.test('a path finds its line and its parameters', async (t) => {
  const result = match('GET', '/v1/apps/one/devices/two');
  t.equal(result?.methods.get('GET')?.path, '/v1/apps/{applicationId}/devices/{deviceId}');
  t.same(Object.entries(result?.params ?? {}), [
    ['applicationId', 'one'],
    ['deviceId', 'two'],
  ]);
});

t.test('a path has all its methods', async (t) => {
  t.same([...(match('GET', '/v1/apps/one')?.methods.keys() ?? [])], ['GET', 'PATCH']);
});

t.test('a fixed segment wins over a parameter where it has the method, and only there', async (t) => {
  t.equal(found('/v1/apps/one/devices/status'), '/v1/apps/{applicationId}/devices/status');
  t.same(match('GET', '/v1/apps/one/devices/status')?.params, { applicationId: 'one' });
  for (const method of ['POST', 'PUT', 'HEAD']) {
    t.equal(found('/v1/apps/one/devices/status', method), '/v1/apps/{applicationId}/devices/{deviceId}', method);
  }
  const below = match('PUT', '/v1/apps/one/devices/status/apps');
  t.same(below?.params, { applicationId: 'one', deviceId: 'status' });
  t.equal(found('/v1/apps/one/devices/status/none'), undefined);
});

t.test('nothing else is found', async (t) => {
  for (const path of [
    '',
    '/',
    '*',
    '//',
    '/v1',
    '/v1/apps',
    '/v1/apps/',
    '/v1/apps//devices/x',
    '/healthz/',
    '/Healthz',
  ]) {
    t.equal(found(path), undefined, path);
  }
  t.equal(found('/v1/apps/one/devices/two/'), undefined, 'with a slash at its end');
  t.equal(found('/v1/apps/one/two'), undefined);
  t.equal(found('/__proto__'), undefined);
});

t.test('parameters are percent-decoded, a slash in them too; what cannot be decoded stays', async (t) => {
  t.same(match('GET', '/v1/apps/a%2Fb%20c')?.params, { applicationId: 'a/b c' });
  t.same(match('GET', '/v1/apps/%ZZ')?.params, { applicationId: '%ZZ' });
  t.same(match('GET', '/v1/apps/%ff')?.params, { applicationId: '%ff' });
});

t.test('a table with the same line twice, or two names for one place, is refused at start', async (t) => {
  const line = (path: string) => ({ method: 'GET' as const, path });
  t.throws(() => createRouteMatcher([line('/a'), line('/a')]), /two routes/);
  t.throws(() => createRouteMatcher([line('/a/{x}'), line('/a/{y}/b')]), /two names/);
});
