import t from 'tap';
import { CAMERA, startSoftware } from './software-world.ts';

// The specification's state table "Software version"; each title is a row: state, event, next state.
t.test('software version', async (t) => {
  const software = await startSoftware(t);
  const { api, path, versionPath, put } = software;
  await software.register(CAMERA);
  const versions = `${path}/packages/${CAMERA}/versions`;
  let count = 0;

  /** A separate version for each row, and its visible state. */
  async function fresh(...marks: ('binary' | 'distributing')[]) {
    count += 1;
    const version = `${count}.0.0`;
    const at = versionPath(CAMERA, version);
    t.equal((await api.post(versions, { json: { version } })).status, 201);
    if (marks.includes('binary')) await software.upload(CAMERA, version);
    if (marks.includes('distributing')) t.equal((await api.post(`${at}/distributions`)).status, 201);
    const state = async () => ({
      registered: (await api.patch(at, { json: {} })).status === 200,
      binary: (await api.get(`${at}/binaries`)).body.appFileExists ?? false,
      distributing: (await api.get(`${at}/distributions`)).body.distributable ?? false,
    });
    return { version, at, state };
  }
  const registered = { registered: true, binary: false, distributing: false };
  const absent = { registered: false, binary: false, distributing: false };

  t.test('absent -> POST versions -> registered', async (t) => {
    t.same(await (await fresh()).state(), registered);
  });

  t.test('absent -> POST apps -> registered', async (t) => {
    const json = { package: 'com.example.apps', version: '1.0.0', fileSize: 1 };
    t.equal((await api.post(`${path}/apps`, { json })).status, 200);
    t.match((await api.get(`${path}/packages/com.example.apps/versions`)).body, { total: 1 });
    t.match((await api.get(`${path}/apps?package=com.example.apps`)).body, { total: 1 }, 'and may be distributed');
  });

  t.test('registered, no binary -> POST binaries -> upload URL issued -> PUT -> binary present', async (t) => {
    const { at, state } = await fresh();
    const answer = await api.post(`${at}/binaries`);
    t.equal(answer.status, 200);
    t.same(await state(), registered);
    t.equal(await put(answer, 'x'), 200);
    t.same(await state(), { ...registered, binary: true });
  });

  t.test('binary present -> DELETE binaries -> no binary, and distribution stays as it is', async (t) => {
    for (const marks of [[], ['distributing']] as const) {
      const { at, state } = await fresh('binary', ...marks);
      t.equal((await api.delete(`${at}/binaries`)).status, 204);
      t.same(await state(), { ...registered, distributing: marks.length > 0 });
    }
  });

  t.test('not distributing -> POST distributions -> distributing', async (t) => {
    const { at, state } = await fresh();
    t.equal((await api.post(`${at}/distributions`)).status, 201);
    t.same(await state(), { ...registered, distributing: true });
  });

  t.test('distributing -> POST distributions -> unchanged', async (t) => {
    const { at, state } = await fresh('distributing');
    t.equal((await api.post(`${at}/distributions`)).status, 409);
    t.same(await state(), { ...registered, distributing: true });
  });

  t.test('distributing -> DELETE distributions -> not distributing', async (t) => {
    const { at, state } = await fresh('binary', 'distributing');
    t.equal((await api.delete(`${at}/distributions`)).status, 204);
    t.same(await state(), { ...registered, binary: true });
  });

  t.test('registered, no binary and no distribution -> DELETE version -> absent', async (t) => {
    const { at, state } = await fresh();
    t.equal((await api.delete(at)).status, 204);
    t.same(await state(), absent);
  });

  t.test('registered, binary exists or distribution started -> DELETE version -> unchanged', async (t) => {
    for (const marks of [['binary'], ['distributing'], ['binary', 'distributing']] as const) {
      const { at, state } = await fresh(...marks);
      const before = await state();
      const message = 'version still has a binary or started distribution.';
      t.match(await api.delete(at), { status: 409, body: { message } }, marks.join(' '));
      t.same(await state(), before);
    }
  });

  t.test('package with versions -> DELETE package -> unchanged', async (t) => {
    const answer = await api.delete(`${path}/packages/${CAMERA}`);
    t.match(answer, { status: 409, body: { message: 'package still has versions.' } });
    t.ok((await api.get(versions)).body.total > 0);
  });

  t.test('package with no versions -> DELETE package -> absent', async (t) => {
    await software.register('com.example.empty', '1.0.0');
    await api.delete(versionPath('com.example.empty', '1.0.0'));
    t.equal((await api.delete(`${path}/packages/com.example.empty`)).status, 204);
    t.equal((await api.get(`${path}/packages/com.example.empty/versions`)).status, 404);
  });

  t.test('all of it is as it was after a restart', async (t) => {
    const before = (await api.get(`${path}/apps?package=${CAMERA}`)).body;
    const { version } = await fresh('binary', 'distributing');
    await software.world.restart();
    await software.tenant.renew();
    const after = (await software.tenant.api.get(`${path}/apps?package=${CAMERA}`)).body;
    t.equal(after.total, before.total + 1);
    t.match(after.userPackages[0], { version, distributable: true });
    const binary = await software.tenant.api.get(`${versionPath(CAMERA, version)}/binaries`);
    t.match(binary, { body: { appFileExists: true, fileSize: 6 } });
  });
});
