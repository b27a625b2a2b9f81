import { createHash } from 'node:crypto';
import t from 'tap';
import { createFakeClock } from '../fake-clock.ts';
import { useS3Credentials } from '../s3-credentials.ts';
import { faultsOf } from './operations.ts';
import { CAMERA, NOW, startSoftware } from './software-world.ts';

const SECONDS = Math.floor(Date.UTC(2026, 10, 20, 9, 30) / 1000);

t.test('binaries', async (t) => {
  const clock = createFakeClock();
  const software = await startSoftware(t, { clock });
  const { api, path, second, versionPath, put } = software;
  await software.register(CAMERA, '1.0.0', '1.1.0');
  const at = `${versionPath(CAMERA, '1.0.0')}/binaries`;
  const none = {
    package: CAMERA,
    version: '1.0.0',
    appFileExists: false,
    fileSize: null,
    sha256: null,
    uploadDate: null,
    inspected: false,
    warning: null,
    certificates: [],
    signature: 'none',
  };

  t.test('op 22 answers one URL for an hour; op 20 describes the upload', async (t) => {
    t.same((await api.get(at)).body, none);
    const answer = await api.post(at);
    t.equal(answer.status, 200);
    const { uploadUrl } = answer.body.urlList[0];
    const urlList = [{ uploadUrl, startTimestamp: SECONDS, endTimestamp: SECONDS + 3600, expireIn: 3600 }];
    t.same(answer.body, { urlList });
    t.same((await api.get(at)).body, none, 'a URL is no binary');
    const sent = await fetch(uploadUrl, {
      method: 'PUT',
      body: 'first',
      headers: { 'content-type': 'application/vnd.android.package-archive' },
    });
    t.equal(sent.status, 200, 'with the recommended content type');
    const uploadDate = NOW.replace('.123456', '.000000');
    const sha256 = createHash('sha256').update('first').digest('hex');
    t.same((await api.get(at)).body, { ...none, appFileExists: true, fileSize: 5, sha256, uploadDate });
    t.equal(await put(answer, 'second one'), 200, 'without a content type, and again');
    t.match((await api.get(at)).body, { fileSize: 10 });
    t.match((await api.get(`${versionPath(CAMERA, '1.1.0')}/binaries`)).body, { appFileExists: false });
  });

  t.test('the file of a distributed version is not replaced through an old URL, but through a new one', async (t) => {
    const version = versionPath(CAMERA, '1.1.0');
    const before = await api.post(`${version}/binaries`);
    clock.advance(2_000);
    await api.post(`${version}/distributions`);
    t.equal(await put(before, 'the first'), 200, 'there was none yet');
    t.equal(await put(before, 'another one'), 403);
    t.match((await api.get(`${version}/binaries`)).body, { fileSize: 'the first'.length });
    const fresh = await api.post(`${version}/binaries`);
    t.equal(await put(fresh, 'another one'), 200);
    await api.delete(`${version}/distributions`);
    t.equal(await put(before, 'not distributed'), 200);
    await api.delete(`${version}/binaries`);
  });

  t.test('the URL is refused after an hour', async (t) => {
    const answer = await api.post(at);
    clock.advance(3_601_000);
    t.equal(await put(answer, 'too late'), 403);
    await software.tenant.renew();
    t.match((await software.tenant.api.get(at)).body, { fileSize: 10 });
  });

  t.test('op 21 deletes the binary, and succeeds without one; the object store is asked each time', async (t) => {
    const { api } = software.tenant;
    t.equal((await api.delete(at)).status, 204);
    t.same((await api.get(at)).body, none);
    t.equal((await api.delete(at)).status, 204);
    t.equal(await put(await api.post(at), 'again'), 200);
    t.match((await api.get(at)).body, { appFileExists: true, fileSize: 5 });
  });

  t.test('a version that is registered again does not have the file of the former one', async (t) => {
    const { api } = software.tenant;
    const old = await api.post(at);
    t.equal(await put(old, 'old'), 200);
    await api.delete(at);
    t.equal((await api.delete(versionPath(CAMERA, '1.0.0'))).status, 204);
    t.equal(await put(old, 'old'), 200, 'the URL is still good for its object');
    await api.post(`${path}/packages/${CAMERA}/versions`, { json: { version: '1.0.0' } });
    t.same((await api.get(at)).body, none);
  });

  t.test('ops 20 and 21 are developer-wide', async (t) => {
    const { api } = software.tenant;
    const token = await software.world.clientOf(second.path.split('/').at(-1) ?? '', await secretOf(software));
    const elsewhere = at.replace(path, second.path);
    t.equal(await put(await api.post(at), 'shared'), 200);
    t.match(await token.get(elsewhere), { status: 200, body: { fileSize: 6 } });
    t.equal((await token.delete(elsewhere)).status, 204);
    t.match((await api.get(at)).body, { appFileExists: false });
  });
});

/** Gets a new secret of the developer's second application. */
async function secretOf({ world }: Awaited<ReturnType<typeof startSoftware>>): Promise<string> {
  return (await world.admin().post('/admin/v1/applications/dev-second/secret')).body.secret;
}

t.test('op 23: register and upload', async (t) => {
  const software = await startSoftware(t);
  const { world, api, path, second, other, versionPath, put } = software;
  const wanted = { package: CAMERA, version: '1.0.0', fileSize: 5 };

  t.test('registers package and version when missing, and answers a URL for exactly that many bytes', async (t) => {
    const answer = await api.post(`${path}/apps`, { json: wanted });
    t.equal(answer.status, 200);
    const [entry] = answer.body.urlList;
    t.same(answer.body, { urlList: [entry], appFileExists: false, chunkPartSize: 5, uploadId: null });
    t.match(entry, { startTimestamp: SECONDS, endTimestamp: SECONDS + 3600, expireIn: 3600 });
    t.match((await api.get(`${path}/packages`)).body, { total: 1, packages: [{ package: CAMERA, displayName: null }] });
    t.match((await api.get(`${path}/packages/${CAMERA}/versions`)).body.versions, [{ version: '1.0.0' }]);
    t.match((await api.get(`${versionPath(CAMERA, '1.0.0')}/distributions`)).body, { distributable: false });
    t.equal(await put(answer, 'longer'), 403, 'another size than the one that is signed');
    t.equal(await put(answer, 'fives'), 200);
    t.match((await api.get(`${versionPath(CAMERA, '1.0.0')}/binaries`)).body, { fileSize: 5 });
  });

  t.test('for a registered version the URL overwrites the existing file', async (t) => {
    const answer = await api.post(`${path}/apps`, { json: { ...wanted, fileSize: 3 } });
    t.match(answer, { status: 200, body: { appFileExists: true, chunkPartSize: 3 } });
    t.equal(await put(answer, 'new'), 200);
    t.match((await api.get(`${versionPath(CAMERA, '1.0.0')}/binaries`)).body, { fileSize: 3 });
    t.match(await api.post(`${path}/apps`, { json: { ...wanted, version: '1.1.0' } }), {
      body: { appFileExists: false },
    });
    t.match((await api.get(`${path}/packages/${CAMERA}/versions`)).body, { total: 2 });
  });

  t.test('is refused for the reserved prefix and for a package of another developer', async (t) => {
    const reserved = await api.post(`${path}/apps`, { json: { ...wanted, package: 'com.lapel.camera' } });
    t.equal(reserved.status, 400);
    t.same(faultsOf(reserved), ['body.package string_pattern_mismatch']);
    const foreign = { status: 400, body: { reason: 'package is used by a different developer.', details: [] } };
    t.match(await other.api.post(`${other.path}/apps`, { json: wanted }), foreign);
    t.match(await other.api.post(`${other.path}/apps`, { json: { ...wanted, version: '5.0.0' } }), foreign);
    t.match((await api.get(`${path}/packages/${CAMERA}/versions`)).body, { total: 2 }, 'nothing was registered');
    await world.admin().put('/admin/v1/system-packages/org.vendor.system/versions/1.0.0');
    t.match(await api.post(`${path}/apps`, { json: { ...wanted, package: 'org.vendor.system' } }), foreign);
    t.match((await other.api.get(`${other.path}/packages`)).body, { total: 0 });
    t.equal(
      (await second.api.post(`${second.path}/apps`, { json: wanted })).status,
      200,
      'the developer’s other application may',
    );
  });

  t.test('names every fault of the body; a file has 1 byte to 5 GB', async (t) => {
    const five = 5 * 1024 ** 3;
    const rows: [json: unknown, faults: string[]][] = [
      [{}, ['body.fileSize missing', 'body.package missing', 'body.version missing']],
      [{ ...wanted, fileSize: 0 }, ['body.fileSize greater_than_equal']],
      [{ ...wanted, fileSize: -1 }, ['body.fileSize greater_than_equal']],
      [{ ...wanted, fileSize: five + 1 }, ['body.fileSize less_than_equal']],
      [{ ...wanted, fileSize: 1.5 }, ['body.fileSize int_type']],
      [{ ...wanted, fileSize: '5' }, ['body.fileSize int_type']],
      [{ ...wanted, fileSize: null, x: 1 }, ['body.fileSize int_type', 'body.x extra_forbidden']],
      [
        { ...wanted, package: 'camera', version: 'a/b' },
        ['body.package string_pattern_mismatch', 'body.version string_pattern_mismatch'],
      ],
    ];
    for (const [json, faults] of rows) {
      const answer = await api.post(`${path}/apps`, { json });
      t.equal(answer.status, 400, JSON.stringify(json));
      t.same(faultsOf(answer), faults);
    }
    t.match(await api.post(`${path}/apps`, { json: { ...wanted, fileSize: five } }), {
      status: 200,
      body: { chunkPartSize: five },
    });
    t.match(await api.post(`${path}/apps`, { json: { ...wanted, fileSize: 1 } }), {
      status: 200,
      body: { chunkPartSize: 1 },
    });
  });

  t.test('two developers who race for a new package: one registers it, the other is refused', async (t) => {
    for (let round = 0; round < 10; round += 1) {
      const json = { ...wanted, package: `com.example.race${round}` };
      const answers = await Promise.all([
        api.post(`${path}/apps`, { json }),
        other.api.post(`${other.path}/apps`, { json }),
      ]);
      t.same(
        answers.map(({ status }) => status).sort((a, b) => a - b),
        [200, 400],
      );
    }
  });
});

t.test('when the object store does not answer: a clear 503, and nothing is lost', async (t) => {
  // A port on which nothing listens.
  const env = { LAPEL_S3_ENDPOINT: 'http://127.0.0.1:1' };
  useS3Credentials();
  const software = await startSoftware(t, { env });
  const { api, versionPath } = software;
  await software.register(CAMERA, '1.0.0');
  const at = versionPath(CAMERA, '1.0.0');
  const unavailable = {
    status: 503,
    headers: { 'retry-after': '2' },
    body: { message: 'object store is unavailable.' },
  };
  t.match(await api.get(`${at}/binaries`), unavailable);
  t.match(await api.delete(`${at}/binaries`), unavailable);
  t.match(await api.delete(at), unavailable, 'whether it has a binary is not known');
  t.match(await api.post(`${at}/binaries`), { status: 200 }, 'signing a URL asks nobody');
  t.match(await api.get(`${at}/distributions`), { status: 200, body: { distributable: false } }, 'it is still there');
});
