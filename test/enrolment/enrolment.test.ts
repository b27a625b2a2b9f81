import t from 'tap';
import { onBoth } from '../database/kinds.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld } from '../world.ts';
import { NONCE, startEnrolment } from './enrolment-world.ts';

const DAY = 86_400_000;

onBoth(t, async (t, database) => {
  const world = await startWorld(t, { database });
  const enrolment = await startEnrolment(world);
  const { admin, batch, ask, enrol, refusal, isLetIn, audited } = enrolment;

  await t.test('a device gets its credential for the code of its batch, and logs in with it', async (t) => {
    const { code, batchId, ...shown } = await batch({ name: 'line 2' });
    t.match(shown, { state: 'open', approval: 'automatic', enrolled: 0, mostDevices: 10, deviceIds: null });
    const deviceId = deviceIdOf(1001);
    const answer = await ask({ deviceId, code });
    t.match(answer, { status: 201, body: { deviceId }, headers: { 'cache-control': 'no-store' } });
    t.equal(answer.body.credential.length, 43);
    t.ok(await isLetIn(deviceId, answer.body.credential));
    t.match((await admin.get(`/admin/v1/devices/${deviceId}`)).body, { developerId: 'dev', hardwareProperties: null });
    t.match((await admin.get(`/admin/v1/enrolment-batches/${batchId}`)).body, { enrolled: 1, pending: 0 });
    t.match((await admin.get(`/admin/v1/enrolment-batches/${batchId}/devices`)).body.devices, [
      { deviceId, state: 'enrolled', address: '127.0.0.1' },
    ]);
    const [entry] = await audited('ENROL /devices/{deviceId}');
    t.match(entry, { address: '127.0.0.1', details: { batchId, batch: 'line 2', outcome: 'enrolled' } });
    const story = (await admin.get(`/admin/v1/devices/${deviceId}/story`)).body.entries;
    t.ok(JSON.stringify(story).includes('ENROL /devices'), 'the story of the device begins with it');
  });

  await t.test('neither code, nonce nor credential is in the database or the audit log', async (t) => {
    const { code } = await batch();
    const { credential } = await enrol({ deviceId: deviceIdOf(1010), code });
    const raw = await world.raw();
    const rows = [
      ...(await raw.all('SELECT * FROM enrolment_batches')),
      ...(await raw.all('SELECT * FROM enrolments')),
      ...(await raw.all('SELECT * FROM audit_log')),
    ];
    const text = rows
      .flatMap((row) => Object.values(row))
      .map((value) => (Buffer.isBuffer(value) ? value.toString('latin1') : String(value)))
      .join(' ');
    for (const secret of [code, NONCE, credential]) t.notOk(text.includes(secret));
  });

  await t.test('an unknown, expired, revoked or used-up code, and a wrong device, get the same answer', async (t) => {
    const old = await batch({ expiresAt: '2026-11-20T09:30:01Z' });
    const revoked = await batch();
    await enrol({ deviceId: deviceIdOf(1020), code: revoked.code });
    t.equal((await admin.post(`/admin/v1/enrolment-batches/${revoked.batchId}/revoke`)).body.state, 'revoked');
    const used = await batch({ mostDevices: 1 });
    await enrol({ deviceId: deviceIdOf(1021), code: used.code });
    const narrow = await batch({ deviceIds: ['4901', deviceIdOf(1022)] });
    world.clock.advance(1_000);
    const registered = await world.registerDevice();
    const free = await batch();
    const tried = {
      unknown_code: { code: 'x'.repeat(43) },
      expired: { code: old.code },
      revoked: { code: revoked.code },
      used_up: { code: used.code },
      device_id: { code: narrow.code },
      registered: { code: free.code, deviceId: registered.deviceId },
    };
    const answers = new Set<string>();
    for (const [reason, asked] of Object.entries(tried)) {
      const before = await refusal(reason);
      const { status, body, headers } = await ask({ deviceId: deviceIdOf(1023), ...asked });
      const { date: _, 'x-request-id': __, ...others } = headers;
      answers.add(JSON.stringify({ status, body, others }));
      t.equal(await refusal(reason), before + 1, `the metric says ${reason}`);
    }
    t.equal(answers.size, 1, [...answers].join('\n'));
    t.match([...answers][0], /"status":403,"body":\{"message":"the enrolment is refused\."\}/);
    t.equal((await admin.get(`/admin/v1/devices/${deviceIdOf(1023)}`)).status, 404, 'nothing was registered');
    t.equal((await ask({ deviceId: deviceIdOf(1022), code: narrow.code })).status, 201, 'the batch names this device');
    t.equal(
      (await ask({ deviceId: deviceIdOf(1020), code: revoked.code })).status,
      403,
      'a revoked code serves nobody',
    );
  });

  await t.test('after a lost answer the device gets another credential, until it has logged in', async (t) => {
    const { code, batchId } = await batch();
    const deviceId = deviceIdOf(1030);
    const lost = await enrol({ deviceId, code });
    const { credential } = await enrol({ deviceId, code });
    t.not(credential, lost.credential);
    t.notOk(await isLetIn(deviceId, lost.credential), 'the lost credential is invalid');
    t.ok(await isLetIn(deviceId, credential));
    t.equal((await ask({ deviceId, code })).status, 403, 'a device that has logged in gets no other one');
    t.ok(await isLetIn(deviceId, credential), 'and its credential stays valid');
    t.equal((await admin.get(`/admin/v1/enrolment-batches/${batchId}`)).body.enrolled, 1, 'it counts once');
  });

  await t.test('a thief with the code, without the nonce of a device, cannot take its place', async (t) => {
    const { code, batchId } = await batch();
    const deviceId = deviceIdOf(1040);
    const { credential } = await enrol({ deviceId, code });
    const before = await refusal('other_nonce');
    for (const nonce of ['a guess that is long enough', `${NONCE} `, NONCE.toUpperCase()])
      t.equal((await ask({ deviceId, code, nonce })).status, 403);
    t.equal((await refusal('other_nonce')) - before, 3);
    // The answer does not wait for the entry of a refusal.
    const ofBatch = async () =>
      (await audited('REFUSE /v1/enrolments')).find(({ details }) => details['batchId'] === batchId);
    await until(async () => (await ofBatch()) !== undefined);
    t.match((await ofBatch())?.details, {
      reason: 'other_nonce',
      batchId,
      samples: [{ deviceId, address: '127.0.0.1' }],
    });
    t.ok(await isLetIn(deviceId, credential));
  });

  await t.test(
    'a refused request costs no disk: of many within ten minutes the audit log has two entries',
    async (t) => {
      const count = async (): Promise<number> => (await audited('REFUSE /v1/enrolments')).length;
      const { code } = await batch({ deviceIds: ['49'] });
      const before = await count();
      for (let at = 0; at < 20; at += 1) await ask({ deviceId: deviceIdOf(1050 + at), code });
      await world.idle();
      t.equal((await count()) - before, 1);
      world.clock.advance(600_000);
      await world.idle();
      const entries = await audited('REFUSE /v1/enrolments');
      const entry = entries.find(({ details }) => details['reason'] === 'device_id' && details.refused !== 1);
      t.match(entry?.details, { refused: 19, reason: 'device_id', samples: { length: 5 } });
    },
  );

  await t.test('a device that is registered enrols only if its batch says so, and never after a login', async (t) => {
    const { code } = await batch({ registered: true });
    const fresh = await world.registerDevice();
    const { credential } = await enrol({ ...fresh, code });
    t.notOk(await isLetIn(fresh.deviceId, fresh.credential), 'the credential of the registration is replaced');
    t.ok(await isLetIn(fresh.deviceId, credential));
    const used = await world.registerDevice();
    t.ok(await isLetIn(used.deviceId, used.credential));
    t.equal((await ask({ ...used, code })).status, 403);
    await admin.post(`/admin/v1/devices/${used.deviceId}/credential`, { json: {} });
    t.equal((await ask({ ...used, code })).status, 403, 'also after its credential was replaced');
    const foreign = await world.registerDevice('other');
    t.equal((await ask({ ...foreign, code })).status, 403, 'a device of another developer');
    const older = await world.registerDevice();
    await (await world.raw()).exec(`UPDATE devices SET never_logged_in = NULL WHERE device_id = '${older.deviceId}'`);
    t.equal((await ask({ ...older, code })).status, 403, 'a device of a release that did not store first logins');
    const blocked = await world.registerDevice();
    await admin.patch(`/admin/v1/devices/${blocked.deviceId}`, { json: { blocked: true } });
    t.equal((await ask({ ...blocked, code })).status, 403, 'a blocked device');
  });

  await t.test('what administration does to an enrolled device is not undone by the code', async (t) => {
    const { code } = await batch({ mostDevices: 100 });
    const [replaced, removed, moved] = [1070, 1071, 1072].map(deviceIdOf) as [string, string, string];
    for (const deviceId of [replaced, removed, moved]) await enrol({ deviceId, code });
    const { credential } = (await admin.post(`/admin/v1/devices/${replaced}/credential`, { json: {} })).body;
    await admin.delete(`/admin/v1/devices/${removed}`);
    await admin.patch(`/admin/v1/devices/${moved}`, { json: { developerId: 'other' } });
    for (const deviceId of [replaced, removed, moved]) t.equal((await ask({ deviceId, code })).status, 403);
    t.ok(await isLetIn(replaced, credential));
    t.equal((await admin.get(`/admin/v1/devices/${removed}`)).status, 404);
    const next = await batch();
    t.equal((await ask({ deviceId: removed, code: next.code })).status, 201, 'a later batch takes it again');
  });

  await t.test('of twenty devices at once exactly as many enrol as may', async (t) => {
    const { code, batchId } = await batch({ mostDevices: 8 });
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, at) => ask({ deviceId: deviceIdOf(2000 + at), code })),
    );
    const statuses = all.map(({ status }) => status);
    t.equal(statuses.filter((status) => status === 201).length, 8);
    t.equal(statuses.filter((status) => status === 403).length, 12);
    t.equal((await admin.get(`/admin/v1/enrolment-batches/${batchId}`)).body.enrolled, 8);
    const { devices } = (await admin.get(`/admin/v1/enrolment-batches/${batchId}/devices?state=enrolled`)).body;
    t.equal(devices.length, 8);
  });

  await t.test('the same request ten times at once enrols one device, whose last credential is valid', async (t) => {
    const { code, batchId } = await batch();
    const deviceId = deviceIdOf(2100);
    const all = await Promise.all(Array.from({ length: 10 }, () => ask({ deviceId, code })));
    t.same(new Set(all.map(({ status }) => status)), new Set([201]));
    const valid: string[] = [];
    for (const { body } of all) if (await isLetIn(deviceId, body.credential)) valid.push(body.credential);
    t.equal(valid.length, 1);
    t.equal((await admin.get(`/admin/v1/enrolment-batches/${batchId}`)).body.enrolled, 1);
  });

  await t.test('a person approves the devices of a manual batch, or refuses them', async (t) => {
    const { code, batchId } = await batch({ approval: 'manual', mostDevices: 1 });
    const path = `/admin/v1/enrolment-batches/${batchId}`;
    const [good, bad, late] = [3000, 3001, 3002].map(deviceIdOf) as [string, string, string];
    for (const deviceId of [good, bad, late, good]) {
      const answer = await ask({ deviceId, code });
      t.match(answer, { status: 202, body: { state: 'pending' }, headers: { 'retry-after': '60' } });
    }
    t.equal((await ask({ deviceId: good, code, nonce: 'another secret of somebody' })).status, 403);
    t.match((await admin.get(path)).body, { enrolled: 0, pending: 3 });
    const listed = await admin.get(`${path}/devices?state=pending&limit=2`);
    t.equal(listed.body.devices.length, 2);
    t.match(listed.headers['link'], new RegExp(`after=${bad}`));
    t.equal((await admin.post(`${path}/devices/${good}/approve`)).body.state, 'approved');
    t.equal((await admin.post(`${path}/devices/${good}/approve`)).status, 200, 'it may be repeated');
    t.equal((await admin.post(`${path}/devices/${bad}/refuse`)).body.state, 'refused');
    t.match(await admin.post(`${path}/devices/${bad}/approve`), { status: 409, body: { message: /is refused/ } });
    t.match(await admin.post(`${path}/devices/${deviceIdOf(3999)}/approve`), {
      status: 404,
      headers: { 'lapel-error-code': 'ENROLMENT_NOT_FOUND' },
    });
    const { credential } = await enrol({ deviceId: good, code });
    t.ok(await isLetIn(good, credential));
    t.equal((await ask({ deviceId: bad, code })).status, 403);
    t.match(await admin.post(`${path}/devices/${late}/approve`), {
      status: 409,
      headers: { 'lapel-error-code': 'ENROLMENT_BATCH_CLOSED' }, // the batch is used up
    });
    t.equal((await ask({ deviceId: late, code })).status, 403);
    const [entry] = await audited('POST /admin/v1/enrolment-batches/{batchId}/devices/{deviceId}/approve');
    t.ok(entry, 'who approved is in the audit log');
  });

  await t.test('a request that nobody approves expires, and the device may ask anew', async (t) => {
    const { code, batchId } = await batch({ approval: 'manual' });
    const deviceId = deviceIdOf(3100);
    await ask({ deviceId, code });
    world.clock.leap(7 * DAY);
    const path = `/admin/v1/enrolment-batches/${batchId}/devices/${deviceId}`;
    t.equal((await admin.post(`${path}/approve`)).status, 404);
    t.equal((await ask({ deviceId, code, nonce: 'a new secret of the device' })).status, 202);
    t.equal((await admin.post(`${path}/approve`)).status, 200);
    t.equal((await ask({ deviceId, code })).status, 403, 'the nonce of the expired request is worth nothing');
    t.equal((await ask({ deviceId, code, nonce: 'a new secret of the device' })).status, 201);
  });

  await t.test(
    'at most a thousand devices of a batch wait for a person, and each developer has as many batches',
    async (t) => {
      const { code, batchId } = await batch({ approval: 'manual', mostDevices: 100_000 });
      const [first, second] = [3200, 3201].map(deviceIdOf) as [string, string];
      await ask({ deviceId: first, code });
      const raw = await world.raw();
      const to = (last: number): string =>
        `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${last})`;
      await raw.exec(`${to(999)} INSERT INTO enrolments (batch_id, device_id, state, nonce_hash, address, requested_at)
      SELECT e.batch_id, 'x' || CAST(n.i AS TEXT), e.state, e.nonce_hash, e.address, e.requested_at
      FROM n CROSS JOIN enrolments e WHERE e.device_id = '${first}'`);
      t.equal((await ask({ deviceId: second, code })).status, 403);
      t.equal(await refusal('pending_full'), 1);
      await admin.post(`/admin/v1/enrolment-batches/${batchId}/devices/${first}/refuse`);
      t.equal((await ask({ deviceId: second, code })).status, 202, 'there is room again');

      const columns = 'developer_id, name, approval, registered, most_devices, enrolled, created_at, expires_at';
      await batch({ name: 'copied' }, 'other');
      await raw.exec(`${to(999)} INSERT INTO enrolment_batches (batch_id, code_hash, ${columns})
      SELECT 'x' || CAST(n.i AS TEXT), CAST('x' || CAST(n.i AS TEXT) AS ${database === 'sqlite' ? 'BLOB' : 'BYTEA'}), ${columns}
      FROM n CROSS JOIN enrolment_batches WHERE name = 'copied'`);
      t.match(await enrolment.create({}, 'other'), {
        status: 409,
        body: { message: /has 1000 open enrolment batches/ },
      });
      await raw.exec(`UPDATE enrolment_batches SET expires_at = 1 WHERE batch_id = 'x7'`);
      t.equal((await enrolment.create({}, 'other')).status, 201, 'an ended one does not count');
    },
  );

  await t.test('batches are removed with their devices when their time is over', async (t) => {
    const { batchId, code } = await batch();
    await enrol({ deviceId: deviceIdOf(3300), code });
    const raw = await world.raw();
    await raw.exec(`UPDATE enrolment_batches SET expires_at = 1 WHERE batch_id = '${batchId}'`);
    const left = async (table: string): Promise<number> =>
      (await raw.all(`SELECT 1 AS one FROM ${table} WHERE batch_id = ?`, batchId)).length;
    await until(async () => {
      world.clock.advance(660_000);
      await world.idle();
      return (await left('enrolment_batches')) === 0;
    });
    t.equal(await left('enrolments'), 0);
    t.equal((await admin.get(`/admin/v1/devices/${deviceIdOf(3300)}`)).status, 200, 'the device stays');
  });

  await t.test('a batch needs an end in the next year', async (t) => {
    for (const expiresAt of ['2026-11-20T00:00:00Z', '2029-01-01T00:00:00Z', '2027-02-30T00:00:00Z']) {
      const answer = await enrolment.create({ expiresAt });
      t.match(answer, { status: 400, body: { details: [{ loc: ['body', 'expiresAt'] }] } }, expiresAt);
    }
  });

  await t.test('codes and counts are there after a restart', async (t) => {
    const { code, batchId } = await batch({ mostDevices: 2 });
    await enrol({ deviceId: deviceIdOf(4000), code });
    await world.restart();
    enrolment.renew();
    t.equal((await enrolment.ask({ deviceId: deviceIdOf(4001), code })).status, 201);
    t.equal((await enrolment.ask({ deviceId: deviceIdOf(4002), code })).status, 403);
    t.match((await world.admin().get(`/admin/v1/enrolment-batches/${batchId}`)).body, { enrolled: 2 });
  });
});
