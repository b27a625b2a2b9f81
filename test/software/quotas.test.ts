import { once } from 'node:events';
import { connect } from 'node:net';
import t from 'tap';
import { startWorld } from '../world.ts';

const MEBIBYTE = 1024 ** 2;

t.test('a developer has quotas', async (t) => {
  const env = {
    LAPEL_DEVELOPER_PACKAGES: '3',
    LAPEL_DEVELOPER_VERSIONS: '4',
    LAPEL_DEVELOPER_STORED_GIB: '1',
  };
  const world = await startWorld(t, { env });
  const tenant = await world.createTenant('dev', { key: false, deviceEvent: false });
  const other = await world.createTenant('other', { key: false, deviceEvent: false });
  const admin = world.admin();
  const shown = async () => (await admin.get('/admin/v1/developers/dev')).body;
  const packages = `${tenant.path}/packages`;
  const register = (name: string) => tenant.api.post(packages, { json: { package: `com.example.${name}` } });
  const version = (name: string, number: number) =>
    tenant.api.post(`${packages}/com.example.${name}/versions`, { json: { version: `${number}.0.0` } });
  const upload = (name: string, number: number, mebibytes: number, of = tenant) =>
    of.api.post(`${of.path}/apps`, {
      json: { package: `com.example.${name}`, version: `${number}.0.0`, fileSize: mebibytes * MEBIBYTE },
    });
  /** The versions of the package a. Of those that are made at once, any may be refused. */
  let numbers: number[] = [];
  const refused = { status: 429, headers: { 'lapel-error-code': 'QUOTA_EXCEEDED' } };
  const statuses = (answers: readonly { status: number }[]): number[] =>
    answers.map(({ status }) => status).toSorted((a, b) => a - b);

  await t.test('of packages: also of several at once', async (t) => {
    const answers = await Promise.all(['a', 'b', 'c', 'd', 'e'].map(register));
    t.same(statuses(answers), [201, 201, 201, 429, 429]);
    const message = 'the quota of the developer, 3 packages, would be exceeded.';
    t.match(await register('f'), { ...refused, body: { message } });
    t.equal((await other.api.post(`${other.path}/packages`, { json: { package: 'com.other.a' } })).status, 201);
    t.match(await shown(), { usage: { packages: 3, versions: 0 }, quotas: { packages: 3, versions: 4 } });
    const [made] = (await tenant.api.get(packages)).body.packages as { package: string }[];
    await tenant.api.delete(`${packages}/${made?.package}`);
    t.equal((await register('a')).status, 201, 'one that goes makes room');
  });

  await t.test('of versions', async (t) => {
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((number) => version('a', number)));
    t.same(statuses(answers), [201, 201, 201, 201, 429, 429]);
    t.match(await upload('a', 9, 1), refused);
    const [first = 0, ...others] = [1, 2, 3, 4, 5, 6].filter((_, index) => answers[index]?.status === 201);
    numbers = others;
    t.equal((await version('a', first)).status, 429, 'before it is looked whether there is one');
    t.equal((await tenant.api.delete(`${packages}/com.example.a/versions/${first}.0.0`)).status, 204);
    t.equal((await version('a', 7)).status, 201);
    t.match((await shown()).usage, { packages: 3, versions: 4, storedBytes: 0 });
  });

  await t.test('of bytes: by the sizes for which upload URLs were issued', async (t) => {
    const [one = 0, second = 0] = numbers;
    const uploads = await Promise.all([one, second].map((number) => upload('a', number, 600)));
    t.same(statuses(uploads), [200, 429]);
    t.equal((await shown()).usage.storedBytes, 600 * MEBIBYTE);
    const number = uploads[0]?.status === 200 ? one : second;
    t.equal((await upload('a', number, 700)).status, 200, 'another one of the same version takes its place');
    t.equal((await shown()).usage.storedBytes, 700 * MEBIBYTE);
    t.equal((await upload('x', 1, 900, other)).status, 200, 'another developer has a quota of its own');
    t.equal((await tenant.api.delete(`${packages}/com.example.a/versions/${number}.0.0/binaries`)).status, 204);
    t.equal((await shown()).usage.storedBytes, 0);
  });

  await t.test('of bytes: by the sizes of uploads through URLs without a size', async (t) => {
    const [number = 0, , last = 0] = numbers;
    const path = `${packages}/com.example.a/versions/${last}.0.0/binaries`;
    const uploadUrl: string = (await tenant.api.post(path)).body.urlList[0].uploadUrl;
    const { hostname, port, pathname, search, host } = new URL(uploadUrl);
    const socket = connect(Number(port), hostname);
    t.teardown(() => socket.destroy());
    socket.write(
      `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${1025 * MEBIBYTE}\r\nExpect: 100-continue\r\n\r\n`,
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    t.match(answer.toString(), /^HTTP\/1\.1 507 .*InsufficientStorage/s);
    const content = Buffer.alloc(3 * MEBIBYTE);
    const stored = await fetch(uploadUrl, { method: 'PUT', body: content });
    t.equal(stored.status, 200);
    t.equal((await shown()).usage.storedBytes, content.length);
    t.match(await upload('a', number, 1023), refused);
    t.equal((await upload('a', number, 1021)).status, 200);
    t.match(await tenant.api.post(path), refused, 'there is no room at all');
    t.match(
      String((await world.anonymousAdmin().get('/metrics')).body),
      /quota_refused_total{quota="stored_bytes"} [1-9]/,
    );
  });
});
