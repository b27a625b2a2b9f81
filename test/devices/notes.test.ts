import t from 'tap';
import { run } from '../cli/run.ts';
import { addToken } from '../people/people-world.ts';
import { deviceIdOf, startWorld } from '../world.ts';

interface Note {
  noteId: string;
  applicationId: string | null;
  text: string;
  author: string;
}

t.test('notes on devices', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const other = await world.createTenant('other');
  const { api, applicationId } = tenant;
  const root = world.admin();
  const listener = world.anonymousAdmin();
  const personOf = async (name: string, role: string) => {
    const personId = name.toLowerCase();
    await root.post('/admin/v1/people', { json: { personId, name, role } });
    const { token } = await addToken(world, personId, { name: 'laptop' });
    return {
      get: (path: string) => listener.get(path, { token }),
      post: (path: string, { json }: { json: unknown }) => listener.post(path, { token, json }),
      delete: (path: string) => listener.delete(path, { token }),
    };
  };
  const ada = await personOf('Ada', 'support');
  const memberOf = async (name: string, role: string) =>
    world.clientWith((await root.post('/admin/v1/developers/dev/members', { json: { name, role } })).body.token);
  const device = await world.activatedDevice(tenant);
  const foreign = await world.activatedDevice(other);
  const own = `${device.path}/notes`;
  const ofAdministration = (deviceId: string): string => `/admin/v1/devices/${deviceId}/notes`;
  const textsOf = async (asked: ReturnType<typeof api.get>): Promise<string[]> => {
    const answer = await asked;
    t.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body.notes.map(({ text }: Note) => text);
  };

  await t.test('name the person or the application that wrote them, the newest first', async (t) => {
    t.same(await textsOf(api.get(own)), []);
    const mika = await memberOf('Mika', 'developer');
    t.match(await mika.post(own, { json: { text: 'screen broken,\nsent to repair' } }), {
      status: 201,
      body: { noteId: /^note_/, applicationId, author: 'Mika', text: 'screen broken,\nsent to repair' },
    });
    world.clock.advance(1_000);
    t.match(await api.post(own, { json: { text: 'back again' } }), { status: 201, body: { author: 'dev' } });
    const { notes } = (await api.get(own)).body;
    t.match(notes, [
      { text: 'back again', author: 'dev' },
      { text: 'screen broken,\nsent to repair', author: 'Mika', createdAt: '2026-11-20T09:30:00.123456Z' },
    ]);
  });

  await t.test('are written by those who may change devices, and read by those who may see them', async (t) => {
    const reader = await memberOf('Reader', 'reader');
    t.equal((await textsOf(reader.get(own))).length, 2);
    for (const refused of [
      await reader.post(own, { json: { text: 'x' } }),
      await reader.delete(`${own}/note_${'0'.repeat(32)}`),
    ])
      t.match(refused, { status: 403, headers: { 'lapel-error-code': 'SCOPE_INSUFFICIENT' } });
    const bo = await personOf('Bo', 'reader');
    t.equal((await textsOf(bo.get(ofAdministration(device.deviceId)))).length, 2);
    t.match(await bo.post(ofAdministration(device.deviceId), { json: { text: 'x' } }), {
      status: 403,
      headers: { 'lapel-error-code': 'ROLE_INSUFFICIENT' },
    });
  });

  await t.test('of administration are seen by administration only', async (t) => {
    world.clock.advance(1_000);
    t.match(await ada.post(ofAdministration(device.deviceId), { json: { text: 'on the watch list' } }), {
      status: 201,
      body: { author: 'Ada', applicationId: null },
    });
    t.same(await textsOf(api.get(own)), ['back again', 'screen broken,\nsent to repair']);
    const { notes } = (await ada.get(ofAdministration(device.deviceId))).body;
    t.match(notes, [{ text: 'on the watch list' }, { text: 'back again', applicationId }, { applicationId }]);
    t.equal((await api.delete(`${own}/${notes[0].noteId}`)).headers['lapel-error-code'], 'NOTE_NOT_FOUND');
    const byToken = await root.post(ofAdministration(device.deviceId), { json: { text: 'x' } });
    t.equal(byToken.body.author, 'The administrator token');
    t.equal((await ada.delete(`${ofAdministration(device.deviceId)}/${byToken.body.noteId}`)).status, 204);
  });

  await t.test('of another application are neither seen nor deleted', async (t) => {
    const theirs = (await other.api.post(`${foreign.path}/notes`, { json: { text: 'secret' } })).body;
    const wrong = foreign.path.replace(other.path, tenant.path);
    for (const refused of [
      await api.get(`${wrong}/notes`),
      await api.post(`${wrong}/notes`, { json: { text: 'x' } }),
      await api.delete(`${wrong}/notes/${theirs.noteId}`),
    ])
      t.match(refused, { status: 403, body: { message: /unavailable/ } });
    t.match(await api.delete(`${own}/${theirs.noteId}`), { status: 404, body: { reason: 'note not found.' } });
    t.same(await textsOf(other.api.get(`${foreign.path}/notes`)), ['secret']);
    const none = deviceIdOf(99_999);
    t.equal((await ada.get(ofAdministration(none))).headers['lapel-error-code'], 'DEVICE_NOT_FOUND');
    t.equal((await ada.post(ofAdministration(none), { json: { text: 'x' } })).status, 404);
  });

  await t.test('have 1 to 2,000 characters, and a fault is named', async (t) => {
    for (const [json, fault] of [
      [{}, 'body text missing'],
      [{ text: '' }, 'body text string_too_short'],
      [{ text: ' \n ' }, 'body text string_pattern_mismatch'],
      [{ text: 'x'.repeat(2_001) }, 'body text string_too_long'],
      [{ text: 7 }, 'body text string_type'],
      [{ text: 'a\u0000' }, 'body text string_pattern_mismatch'],
      [{ text: 'x', author: 'Eve' }, 'body author extra_forbidden'],
    ] as const) {
      for (const answer of [
        await api.post(own, { json }),
        await ada.post(ofAdministration(device.deviceId), { json }),
      ]) {
        t.equal(answer.status, 400);
        const faults = answer.body.details.map(({ loc, type }: { loc: string[]; type: string }) =>
          [...loc, type].join(' '),
        );
        t.ok(faults.includes(fault), `${fault}: ${faults}`);
      }
    }
    const longest = await api.post(own, { json: { text: '日'.repeat(2_000) } });
    t.equal(longest.status, 201);
    t.equal((await api.delete(`${own}/${longest.body.noteId}`)).status, 204);
    t.equal((await api.delete(`${own}/note_1`)).status, 404, 'a noteId of another form');
  });

  await t.test('are in the audit log by their sentences, without their texts', async (t) => {
    await world.idle();
    const { entries } = (await ada.get(`/admin/v1/audit?about=device:${device.deviceId}&limit=100`)).body;
    const sentences = entries.map(({ sentence }: { sentence: string }) => sentence);
    for (const who of ['Ada', 'Mika', 'dev'])
      t.ok(sentences.includes(`${who} wrote a note on the device ${device.deviceId}`), who);
    t.ok(sentences.includes(`Ada deleted a note on the device ${device.deviceId}`));
    t.notMatch(JSON.stringify(entries), /watch list|back again/);
    const story = (await ada.get(`/admin/v1/devices/${device.deviceId}/story`)).body.entries;
    t.ok(JSON.stringify(story).includes('wrote a note'), 'and so in the story of the device');
  });

  await t.test('are written, shown and deleted by the command line, line by line', async (t) => {
    const { addresses, adminToken } = world.service;
    const env = {
      LAPEL_APPLICATION: applicationId,
      LAPEL_APPLICATION_SECRET: tenant.secret,
      LAPEL_URL: addresses.http,
      LAPEL_ADMIN_TOKEN: adminToken,
      LAPEL_ADMIN_URL: addresses.admin,
      NO_COLOR: '1',
    };
    const lapel = (...args: string[]) => run(args, { env });
    const fresh = await world.activatedDevice(tenant);
    t.match(await lapel('device', 'note', fresh.deviceId), { code: 0, stdout: 'no notes\n' });
    const hostile = 'one\u001b[31m\ntwo\u202e';
    const written = await lapel('device', 'note', fresh.deviceId, hostile);
    t.match(
      written.stdout,
      /^2026-11-20 09:30:0\d {2}dev {2}note_[0-9a-f]{32}\n {2}one\\u\{1b\}\[31m\n {2}two\\u\{202e\}\n$/,
    );
    const { notes } = JSON.parse((await lapel('device', 'note', fresh.deviceId, '--json')).stdout);
    t.match(notes, [{ text: hostile }]);
    t.match(await lapel('device', 'note', fresh.deviceId, 'x', '--delete', notes[0].noteId), {
      code: 2,
      stderr: /^lapel: --delete: cannot be combined with a TEXT/,
    });
    t.match(await lapel('device', 'note', fresh.deviceId, 'x'.repeat(2_001)), { code: 1, stderr: /body\.text: / });
    world.clock.advance(1_000);
    t.match(await lapel('admin', 'note', 'create', fresh.deviceId, 'for us'), { code: 0, stdout: /for us/ });
    const listed = await lapel('admin', 'note', 'list', fresh.deviceId);
    t.match(listed.stdout, /The administrator token {2}note_[0-9a-f]+\n {2}for us\n\n.* dev {2}note_/);
    t.match(await lapel('admin', 'note', 'delete', fresh.deviceId, notes[0].noteId), { code: 0, stdout: /^deleted: / });
    t.match(await lapel('device', 'note', fresh.deviceId), { code: 0, stdout: 'no notes\n' });
    t.match(await lapel('device', 'note', fresh.deviceId, '--delete', notes[0].noteId), {
      code: 1,
      stderr: /note not found/,
    });
  });

  await t.test('a device has at most 50 of its application, and 50 of administration', async (t) => {
    const full = await world.activatedDevice(tenant);
    const notes = `${full.path}/notes`;
    const refusals = { status: 409, headers: { 'lapel-error-code': 'TOO_MANY_NOTES' } };
    const answers = await Promise.all(
      Array.from({ length: 52 }, (_, index) => api.post(notes, { json: { text: `${index}` } })),
    );
    t.same(
      answers.map(({ status }) => status).toSorted((one, two) => one - two),
      [...Array.from({ length: 50 }, () => 201), 409, 409],
      'also when many are written at once',
    );
    t.match(await api.post(notes, { json: { text: 'x' } }), {
      ...refusals,
      body: { message: /50 notes.*delete some/ },
    });
    const admins = ofAdministration(full.deviceId);
    for (let count = 0; count < 50; count += 1)
      t.equal((await ada.post(admins, { json: { text: 'x' } })).status, 201, 'those of the application do not count');
    t.match(await ada.post(admins, { json: { text: 'x' } }), refusals);
    t.equal((await textsOf(ada.get(admins))).length, 100);
    const [first] = (await api.get(notes)).body.notes;
    t.equal((await api.delete(`${notes}/${first.noteId}`)).status, 204);
    t.equal((await api.post(notes, { json: { text: 'x' } })).status, 201);
    t.match(
      (await world.anonymousAdmin().get('/metrics')).body as string,
      /lapel_http_refused_total\{bound="notes"\} 4/,
    );
  });

  await t.test('of an application are gone in the commit of the deactivation; the others stay', async (t) => {
    await api.delete(device.path);
    const { transactionId } = await device.link.command();
    t.equal((await textsOf(api.get(own))).length, 2);
    await device.link.ack({ transactionId, status: 'succeeded' });
    t.match(await api.get(own), { status: 403, body: { message: /not activated/ } });
    t.same(await textsOf(ada.get(ofAdministration(device.deviceId))), ['on the watch list']);
    t.equal((await ada.post(ofAdministration(device.deviceId), { json: { text: 'in the store' } })).status, 201);
    const next = { applicationId: 'next', name: 'next' };
    const { secret } = (await root.post('/admin/v1/developers/dev/applications', { json: next })).body;
    const client = await world.clientOf('next', secret);
    await client.post('/v1/applications/next/refresh_authkey');
    await client.patch('/v1/applications/next', { json: { deviceEvent: tenant.receiver.url } });
    const moved = `/v1/applications/next/devices/${device.deviceId}`;
    t.equal((await client.post(moved, { json: {} })).status, 201);
    t.equal((await client.get(`${moved}/notes`)).status, 403, 'a device that is being activated has none');
    const again = await device.link.command();
    await device.link.ack({ transactionId: again.transactionId, status: 'succeeded' });
    t.same(await textsOf(client.get(`${moved}/notes`)), [], 'the next application sees none of the former');
  });

  await t.test('are all gone with the device, and when it moves to another developer', async (t) => {
    const { deviceId } = await world.registerDevice();
    await ada.post(ofAdministration(deviceId), { json: { text: 'x' } });
    const moved = await root.patch(`/admin/v1/devices/${deviceId}`, { json: { developerId: 'other' } });
    t.equal(moved.status, 200);
    t.same(await textsOf(ada.get(ofAdministration(deviceId))), []);
    await other.api.post(`${foreign.path}/notes`, { json: { text: 'one more' } });
    t.equal((await root.delete(`/admin/v1/devices/${foreign.deviceId}?force=true`)).status, 204);
    const raw = await world.raw();
    const left = await raw.all(`SELECT * FROM device_notes WHERE device_id IN ('${deviceId}', '${foreign.deviceId}')`);
    t.same(left, []);
  });
});
