import t from 'tap';
import { NO_POSTGRES as skip } from '../postgres/databases.ts';
import { brokenEachTime } from '../postgres/meetings.ts';
import { startTwoNodes } from '../postgres/two-nodes.ts';
import { transactionIdOf, WIFI } from '../world.ts';

// Two nodes decide at the same time, at the worst moment: one has decided and not yet written when the other one
// decides.
t.test('two nodes', { skip }, async (t) => {
  const { a, b, meet, query } = await startTwoNodes(t);
  const tenant = await a.createTenant('dev', { deviceLimit: 1000 });
  const { applicationId, path } = tenant;
  const at = { a: tenant.api, b: await b.clientOf(applicationId, tenant.secret) };
  const rolledBack = async (): Promise<number> => {
    const found = await Promise.all([a, b].map(({ service }) => service.metrics.commitUnits.get()));
    return found
      .flatMap(({ values }) => values)
      .filter(({ labels }) => labels.outcome === 'rolled_back')
      .reduce((sum, { value }) => sum + value, 0);
  };
  const answerOf = ({ status, body }: { status: number; body: { message?: string } }) =>
    status < 300 ? status : `${status} ${body.message}`;

  await t.test('no more devices are activated than contracted', async (t) => {
    const few = await a.createTenant('few', { deviceLimit: 1 });
    const second = await b.admin().post('/admin/v1/developers/few/applications', { json: { name: 'another' } });
    const other = await b.clientOf(second.body.applicationId, second.body.secret);
    const otherPath = `/v1/applications/${second.body.applicationId}`;
    await other.post(`${otherPath}/refresh_authkey`);
    await other.patch(otherPath, { json: { deviceEvent: few.receiver.url } });
    const [one, two] = [await a.registerDevice('few'), await a.registerDevice('few')];
    const answers = await meet(
      'devices',
      () => few.api.post(`${few.path}/devices/${one.deviceId}`, { json: {} }),
      () => other.post(`${otherPath}/devices/${two.deviceId}`, { json: {} }),
    );
    // Which of them is first is chance on a busy machine, where the one that waits for a lock gives up and tries again.
    t.same(new Set(answers.map(answerOf)), new Set([201, '403 not contracted or activation limit exceeded.']));
  });

  await t.test('a clientId is given to one device, also with two developers', async (t) => {
    const foreign = await a.createTenant('foreign');
    const other = await b.clientOf(foreign.applicationId, foreign.secret);
    const [one, two] = [await a.registerDevice(), await a.registerDevice('foreign')];
    const answers = await meet(
      'devices',
      () => at.a.post(`${path}/devices/${one.deviceId}`, { json: { clientId: 'same' } }),
      () => other.post(`${foreign.path}/devices/${two.deviceId}`, { json: { clientId: 'same' } }),
    );
    t.same(new Set(answers.map(answerOf)), new Set([201, '403 ClientId is already in use.']));
  });

  await t.test('the bound of stored commands for a device holds', async (t) => {
    const { deviceId } = await a.activatedDevice(tenant);
    await query(
      `INSERT INTO transactions (device_id, application_id, operation, status, due, attempts, created_at, updated_at)
       SELECT $1, $2, 'setWifi', 'queued', 1, 1, 0, 0 FROM generate_series(1, 999)`,
      deviceId,
      applicationId,
    );
    const submit = (api: typeof at.a) => () => api.put(`${path}/devices/${deviceId}/settings/wifi`, { json: WIFI });
    const answers = await meet('transactions', submit(at.a), submit(at.b));
    const refused = '429 the device has 1000 unfinished transactions and may not have more.';
    t.same(new Set(answers.map(answerOf)), new Set([201, refused]));
  });

  await t.test('a device gets its commands in the order of their identifiers', async (t) => {
    const device = await a.activatedDevice(tenant);
    const wifi = (api: typeof at.a, headers?: Record<string, string>) => () =>
      api.put(`${device.path}/settings/wifi`, { json: WIFI, ...(headers && { headers }) });
    // The first one has its identifier and is not committed: the second one must not overtake it.
    const answers = await meet('idempotency_keys', wifi(at.b, { 'idempotency-key': '"order"' }), wifi(at.a));
    const [first, second] = answers.map(transactionIdOf);
    t.ok(Number(first) < Number(second));
    const commands = [await device.link.command(), await device.link.command()];
    t.same(
      commands.map(({ transactionId }) => transactionId),
      [first, second],
    );
  });

  await t.test('each transaction is finished once', async (t) => {
    const device = await a.activatedDevice(tenant);
    const submitted = await at.a.put(`${device.path}/settings/wifi`, { json: WIFI });
    const transactionId = transactionIdOf(submitted);
    device.link.puback((await device.link.command()).packet);
    const [, cancel] = await meet(
      'transactions',
      () => device.link.ack({ transactionId, status: 'succeeded' }),
      () => at.b.delete(`${device.path}/transactions/${transactionId}`),
    );
    // The answer is first, unless a busy machine makes its unit wait too long for the lock.
    const type = cancel.status === 409 ? 'transaction.succeeded' : 'transaction.cancelled';
    t.ok([204, 409].includes(cancel.status));
    t.equal((await tenant.event()).type, type);
    const events = await query('SELECT type FROM deliveries WHERE transaction_id = $1', transactionId);
    t.same(events, [{ type }]);
  });

  await t.test('the counts of activated devices of several applications are right, without deadlocks', async (t) => {
    /** Resolves to how many units of work were rolled back. */
    async function meetAtTheRowBetween(round: number): Promise<number> {
      const three: Awaited<ReturnType<typeof a.createTenant>>[] = [];
      for (const name of ['one', 'mid', 'two']) three.push(await a.createTenant(`${name}-${round}`));
      const activating = async (node: typeof a, of: number) => {
        const { developerId, api, path: own } = three[of] as (typeof three)[number];
        const device = await a.registerDevice(developerId);
        const link = await node.connect(device);
        await api.post(`${own}/devices/${device.deviceId}`, { json: {} });
        const { transactionId } = await link.command();
        return () => link.ack({ transactionId, status: 'succeeded' });
      };
      await (await activating(a, 1))();
      const [atA, atB] = [[0, 1, 2].map((of) => activating(a, of)), [2, 1, 0].map((of) => activating(b, of))];
      const [ofA, ofB] = [await Promise.all(atA), await Promise.all(atB)];
      const before = await rolledBack();
      // Each node has its first lock, and both wait for the row between: the node that gets it must not wait for the other.
      await meet(
        `SELECT 1 FROM activated_counts WHERE application_id = 'mid-${round}-app' FOR UPDATE`,
        () => Promise.all(ofA.map((ack) => ack())),
        () => Promise.all(ofB.map((ack) => ack())),
      );
      const counts = await query(
        'SELECT activated::int AS n FROM activated_counts WHERE application_id = ANY($1) ORDER BY n',
        three.map((tenant) => tenant.applicationId),
      );
      t.same(counts, [{ n: 2 }, { n: 2 }, { n: 3 }]);
      return (await rolledBack()) - before;
    }
    t.equal(await brokenEachTime(meetAtTheRowBetween), 0, 'no deadlock had to be broken');
  });

  await t.test('a credential that is being replaced is refused', async (t) => {
    const device = await a.registerDevice();
    const link = await b.open(device);
    // The login has read the credential, and has not claimed the device yet.
    const [replaced, connack] = await meet(
      'devices',
      () => a.admin().post(`/admin/v1/devices/${device.deviceId}/credential`, { json: {} }),
      () => link.login(),
    );
    t.same([replaced.status, connack.returnCode], [201, 4]);
  });

  await t.test('an event right after the end of an activation is accepted', async (t) => {
    const few = await a.createTenant('eager', { deviceLimit: 10 });
    for (let round = 0; round < 8; round += 1) {
      const device = await a.registerDevice('eager');
      const link = await a.connect(device);
      await few.api.post(`${few.path}/devices/${device.deviceId}`, { json: {} });
      const { transactionId, packet } = await link.command();
      link.puback(packet);
      link.publish('acks', { transactionId, status: 'succeeded' });
      const event = { eventId: 'e', type: 'custom.sos', occurredAt: '2026-11-22T09:30:00.000Z', data: {} };
      link.publish('events', event);
      const types = [(await few.event()).type, (await few.event()).type];
      t.same(types.sort(), ['custom.sos', 'transaction.succeeded']);
    }
  });

  await t.test('an answer with a NUL character is settled', async (t) => {
    const device = await a.activatedDevice(tenant);
    const submitted = await at.a.put(`${device.path}/settings/wifi`, { json: WIFI });
    const transactionId = transactionIdOf(submitted);
    device.link.puback((await device.link.command()).packet);
    const error = { code: 'A\0', message: 'no\0reason' };
    await device.link.ack({ transactionId, status: 'failed', error, result: { text: '\0' } });
    t.equal((await tenant.event()).type, 'transaction.failed');
    const { body } = await at.b.get(`${device.path}/transactions/${transactionId}`);
    t.match(body, { status: 'failed', error: { code: 'A\ufffd', message: 'no\ufffdreason' } });
  });

  await t.test('a request with an Idempotency-Key is carried out once, at two nodes', async (t) => {
    const { deviceId } = await a.activatedDevice(tenant);
    const headers = { 'idempotency-key': '"one"' };
    const submit = (api: typeof at.a) => () =>
      api.put(`${path}/devices/${deviceId}/settings/wifi`, { json: WIFI, headers });
    const [first, second] = await meet('transactions', submit(at.a), submit(at.b));
    t.same([first.status, second.status], [201, 201]);
    t.equal(transactionIdOf(first), transactionIdOf(second));
    t.same([first, second].filter(({ headers: answered }) => answered['idempotency-replayed'] === 'true').length, 1);
  });

  await t.test('a repeated activation gets the first answer, and is not refused', async (t) => {
    const { deviceId } = await a.registerDevice();
    const headers = { 'idempotency-key': '"activation"' };
    const activate = (api: typeof at.a) => () => api.post(`${path}/devices/${deviceId}`, { json: {}, headers });
    const [first, second] = await meet('devices', activate(at.a), activate(at.b));
    t.same([first.status, second.status], [201, 201]);
    t.equal(transactionIdOf(first), transactionIdOf(second));
  });

  await t.test('an Idempotency-Key with two different requests is refused', async (t) => {
    const [one, two] = [await a.activatedDevice(tenant), await a.activatedDevice(tenant)];
    const headers = { 'idempotency-key': '"two"' };
    const [first, second] = await meet(
      'idempotency_keys',
      () => at.a.put(`${one.path}/settings/wifi`, { json: WIFI, headers }),
      () => at.b.put(`${two.path}/settings/wifi`, { json: WIFI, headers }),
    );
    t.same(
      new Set([first, second].map(answerOf)),
      new Set([201, '422 the idempotency key was used with another request.']),
    );
    const stored = await query(
      `SELECT 1 FROM transactions WHERE device_id IN ($1, $2) AND operation = 'setWifi'`,
      one.deviceId,
      two.deviceId,
    );
    t.equal(stored.length, 1, 'it left nothing behind');
  });

  await t.test('the name of a package is given to one developer', async (t) => {
    const rival = await a.createTenant('rival');
    const other = await b.clientOf(rival.applicationId, rival.secret);
    const wanted = { package: 'com.example.wanted', version: '1.0.0', fileSize: 5 };
    const [first, second] = await meet(
      'packages',
      () => at.a.post(`${path}/apps`, { json: wanted }),
      () => other.post(`${rival.path}/apps`, { json: { ...wanted, version: '2.0.0' } }),
    );
    t.same(new Set([first.status, second.status]), new Set([200, 400]), { found: [first.body, second.body] });
    const versions = await query(`SELECT version FROM versions WHERE package = 'com.example.wanted'`);
    t.equal(versions.length, 1, 'and no version of another one is in it');
  });

  await t.test('no change of a version is lost', async (t) => {
    const packages = `${path}/packages`;
    await at.a.post(packages, { json: { package: 'com.example.changed' } });
    const versions = `${packages}/com.example.changed/versions`;
    await at.a.post(versions, { json: { version: '1.0.0' } });
    await meet(
      'versions',
      () => at.a.patch(`${versions}/1.0.0`, { json: { description: 'changed' } }),
      () => at.b.post(`${versions}/1.0.0/distributions`),
    );
    const [row] = await query(
      `SELECT description, distribution_started_at IS NOT NULL AS started FROM versions WHERE package = 'com.example.changed'`,
    );
    t.same(row, { description: 'changed', started: true });
  });

  await t.test('no version is registered in a package that is being deleted', async (t) => {
    const packages = `${path}/packages`;
    await at.a.post(packages, { json: { package: 'com.example.gone' } });
    const [removed, registered] = await meet(
      'packages',
      () => at.a.delete(`${packages}/com.example.gone`),
      () => at.b.post(`${packages}/com.example.gone/versions`, { json: { version: '1.0.0' } }),
    );
    t.same([removed.status, registered.status], [204, 404]);
  });

  await t.test('an application that gets a device is not deleted', async (t) => {
    const brief = await a.createTenant('brief');
    const { deviceId } = await a.registerDevice('brief');
    const [activated, deleted] = await meet(
      'devices',
      () => brief.api.post(`${brief.path}/devices/${deviceId}`, { json: {} }),
      () => b.admin().delete(`/admin/v1/applications/${brief.applicationId}`),
    );
    t.same([activated.status, deleted.status], [201, 409]);
  });

  await t.test('no change of a setting or of a developer is lost', async (t) => {
    const url = `${tenant.receiver.url}/calls`;
    await meet(
      'applications',
      () => at.a.patch(path, { json: { callEvent: url } }),
      () => at.b.patch(path, { json: { fileUploadEvent: url } }),
    );
    const [settings] = await query(
      'SELECT call_event AS call, file_upload_event AS file FROM applications WHERE application_id = $1',
      applicationId,
    );
    t.same(settings, { call: url, file: url });
    await meet(
      'developers',
      () => a.admin().patch('/admin/v1/developers/dev', { json: { name: 'renamed' } }),
      () => b.admin().patch('/admin/v1/developers/dev', { json: { deviceLimit: 77 } }),
    );
    const [developer] = await query(
      `SELECT name, device_limit::int AS "limit" FROM developers WHERE developer_id = 'dev'`,
    );
    t.same(developer, { name: 'renamed', limit: 77 });
  });

  await t.test("make one new signing key, publish it, and take each other's tokens", async (t) => {
    a.clock.leap(30 * 24 * 3600_000); // on both nodes
    const jwks = async (world: typeof a): Promise<string[]> =>
      (await world.anonymous().get('/.well-known/jwks.json')).body.keys.map(({ kid }: { kid: string }) => kid);
    while ((await jwks(a)).length < 2 || (await jwks(b)).length < 2) await a.idle();
    t.same(await jwks(a), await jwks(b));
    t.equal((await jwks(a)).length, 2);
    a.clock.advance(600_000);
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const token = await from.tokenOf(applicationId, tenant.secret);
      t.equal((await to.anonymous().get(path, { token })).status, 200);
    }
  });
});
