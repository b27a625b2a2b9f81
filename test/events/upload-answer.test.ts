import { DomainError, faultText } from '@lapel/schemas/contracts/errors';
import t from 'tap';
import { fromDeviceTime } from '../../src/core/events/device-time.ts';
import { toUpload, toUploads } from '../../src/core/events/upload-answer.ts';

/** The message of the error, or the value. */
function said(make: () => unknown): unknown {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof DomainError)) throw thrown;
    return faultText(thrown.details);
  }
}

const uploadUrl = 'https://store.example/a?signature=b';

t.test('an upload is complete: PUT and no headers unless the answer says so, times in UTC', async (t) => {
  t.same(toUpload({ uploadUrl }, false, []), { uploadUrl, method: 'PUT', headers: {} });
  const given = { uploadUrl, method: 'POST' as const, headers: { 'Content-Type': 'video/mp4' } };
  t.same(toUpload({ ...given, expiresAt: '2026-11-20T18:30:00+09:00' }, false, []), {
    ...given,
    expiresAt: '2026-11-20T09:30:00.000000Z',
  });
});

t.test(
  'upload URLs are absolute https without credentials, or http if allowed, with at most 8192 characters',
  async (t) => {
    const fault = (url: string, allowHttp = false) => said(() => toUpload({ uploadUrl: url }, allowHttp, []));
    const long = (length: number) => `https://store.example/${'a'.repeat(length - 'https://store.example/'.length)}`;
    t.match(fault(long(8192)), { method: 'PUT' });
    t.equal(fault(long(8193)), 'uploadUrl: String should have at most 8192 characters');
    t.equal(fault('/a'), 'uploadUrl: Input should be an absolute URL');
    t.equal(fault('https:store.example'), 'uploadUrl: Input should be an absolute URL');
    t.equal(fault('https://store.example/a b'), 'uploadUrl: Input should be an absolute URL');
    t.equal(fault('https://u:p@store.example/'), 'uploadUrl: URL should not hold credentials');
    t.equal(fault('ftp://store.example/'), "uploadUrl: URL scheme should be 'https'");
    t.equal(fault('http://store.example/'), "uploadUrl: URL scheme should be 'https'");
    t.match(fault('http://127.0.0.1:8082/a'), { method: 'PUT' }, 'loopback');
    t.match(fault('http://store.example/', true), { method: 'PUT' });
  },
);

t.test('headers that the device’s client sets itself, and invalid ones, are refused by name', async (t) => {
  const fault = (headers: Record<string, string>) => said(() => toUpload({ uploadUrl, headers }, false, []));
  const own = ['Host', 'content-LENGTH', 'Connection', 'Transfer-Encoding', 'Upgrade', 'TE', 'Trailer', 'Keep-Alive'];
  for (const name of [...own, 'Proxy-Authorization']) {
    t.equal(fault({ [name]: 'x' }), `headers.${name}: Extra inputs are not permitted`);
  }
  t.equal(fault({ 'a b': 'x' }), 'headers.a b: Name should be a header name');
  t.equal(fault({ '': 'x' }), 'headers.: Name should be a header name');
  t.equal(fault({ 'X-A': 'x', 'x-a': 'y' }), 'headers.x-a: Extra inputs are not permitted', 'twice');
  t.match(fault({ 'x-amz-acl': 'private', 'Content-Type': 'a/b' }), { method: 'PUT' });
});

t.test('with several files each name occurs once, and no other, in the order of the request', async (t) => {
  const urls = (...names: string[]) => ({ urls: names.map((name) => ({ name, uploadUrl: `${uploadUrl}&n=${name}` })) });
  const made = (...names: string[]) => said(() => toUploads(urls(...names), ['a', 'b'], false));
  t.match(made('b', 'a'), { urls: [{ name: 'a' }, { name: 'b' }] });
  t.equal(made('a'), 'urls.b: Field required');
  t.equal(made('a', 'b', 'b'), 'urls.2.name: Name is there twice');
  t.equal(made('a', 'b', 'c'), 'urls.2.name: Name was not asked for');
  const bad = { urls: [{ name: 'a', uploadUrl: 'x' }] };
  t.equal(
    said(() => toUploads(bad, ['a'], false)),
    'urls.0.uploadUrl: Input should be an absolute URL',
  );
});

t.test('times of devices keep microseconds and their offset', async (t) => {
  const at = (text: string) => said(() => fromDeviceTime(text, 'body', 'occurredAt'));
  const start = Date.UTC(2026, 10, 20, 9, 30) * 1000;
  t.equal(at('2026-11-20T09:30:00Z'), start);
  t.equal(at('2026-11-20T09:30:00.1Z'), start + 100_000);
  t.equal(at('2026-11-20T09:30:00.123456789Z'), start + 123_456);
  t.equal(at('2026-11-20T18:30:00+09:00'), start);
  t.equal(at('2026-11-20T04:00:00-05:30'), start);
  t.equal(at('2028-02-29T00:00:00Z'), Date.UTC(2028, 1, 29) * 1000);
  t.equal(at('2026-02-29T00:00:00Z'), 'occurredAt: Input should be a day of the calendar');
});
