import t from 'tap';
import { until } from '../until.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { faultsOf } from './operations.ts';

const DAY = 24 * 3600 * 1000;
const keyed = (key: string, json: unknown = WIFI) => ({ json, headers: { 'idempotency-key': key } });

t.test('a request with an Idempotency-Key is carried out once', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { api } = tenant;
  const device = await world.activatedDevice(tenant);
  const other = await world.activatedDevice(tenant);
  await device.link.drop();
  const wifi = `${device.path}/settings/wifi`;
  const total = async (): Promise<number> => (await api.get(`${device.path}/transactions`)).body.total;

  t.test('the same request is answered the same again, byte for byte, and says that it is a replay', async (t) => {
    const before = await total();
    const first = await api.put(wifi, keyed('one'));
    t.match(first, { status: 201, headers: { 'idempotency-replayed': undefined } });
    world.clock.advance(DAY - 1);
    await tenant.renew();
    const again = await tenant.api.put(wifi, keyed('one'));
    t.same([again.status, again.body], [201, first.body]);
    t.equal(again.headers['location'], first.headers['location']);
    t.equal(again.headers['content-length'], first.headers['content-length']);
    t.equal(again.headers['idempotency-replayed'], 'true');
    t.equal((await tenant.api.get(`${device.path}/transactions`)).body.total, before + 1);
  });

  t.test('it is replayed after the transaction is over, too, and after a restart', async (t) => {
    const made = await tenant.api.put(wifi, keyed('over'));
    t.equal((await tenant.api.delete(`${device.path}/transactions/${transactionIdOf(made)}`)).status, 204);
    await world.restart();
    await tenant.renew();
    const again = await tenant.api.put(wifi, keyed('over'));
    t.match(again, { status: 201, body: made.body, headers: { 'idempotency-replayed': 'true' } });
    t.equal(again.headers['location'], made.headers['location'], 'also where the service moved to another port');
  });

  t.test('after 24 hours the key can be used for another request', async (t) => {
    const first = await tenant.api.put(wifi, keyed('daily'));
    world.clock.advance(DAY + 1);
    await tenant.renew();
    const next = await tenant.api.put(`${device.path}/settings/apn`, keyed('daily', []));
    t.equal(next.status, 201);
    t.not(transactionIdOf(next), transactionIdOf(first));
    t.match(await tenant.api.put(wifi, keyed('daily')), { status: 422 }, 'and holds its new request');
  });

  t.test('with another body, operation or device it is answered 422, and no transaction is made', async (t) => {
    await tenant.api.put(wifi, keyed('taken'));
    const before = (await tenant.api.get(`${device.path}/transactions`)).body.total;
    const refused = { status: 422, body: { message: 'the idempotency key was used with another request.' } };
    t.match(await tenant.api.put(wifi, keyed('taken', [])), refused);
    t.match(await tenant.api.put(`${device.path}/settings/apn`, keyed('taken', [])), refused);
    t.match(await tenant.api.delete(device.path, { headers: { 'idempotency-key': 'taken' } }), refused);
    t.match(await tenant.api.put(`${other.path}/settings/wifi`, keyed('taken')), refused);
    t.equal((await tenant.api.get(`${device.path}/transactions`)).body.total, before);
  });

  t.test('a bare key and the same key as a quoted string are one', async (t) => {
    const made = await tenant.api.put(wifi, keyed('with "quotes" and \\'));
    t.equal(made.status, 201);
    const quoted = await tenant.api.put(wifi, keyed('"with \\"quotes\\" and \\\\"'));
    t.match(quoted, { status: 201, body: made.body, headers: { 'idempotency-replayed': 'true' } });
  });

  t.test('a key that is empty, too long, half quoted or not ASCII is answered 400 and named', async (t) => {
    for (const [key, type] of [
      ['', 'string_too_short'],
      ['""', 'string_too_short'],
      ['k'.repeat(256), 'string_too_long'],
      [`"${'k'.repeat(256)}"`, 'string_too_long'],
      ['"half', 'string_pattern_mismatch'],
      ['"a\\b"', 'string_pattern_mismatch'],
      ['"a";b', 'string_pattern_mismatch'],
      ['schlüssel', 'string_pattern_mismatch'],
      ['a\tb', 'string_pattern_mismatch'],
    ] as const) {
      const answer = await tenant.api.put(wifi, keyed(key));
      t.equal(answer.status, 400, key);
      t.same(faultsOf(answer), [`header.Idempotency-Key ${type}`], key.slice(0, 20));
    }
    t.match(await tenant.api.put(wifi, keyed('k'.repeat(255))), { status: 201 });
  });

  t.test('a request that was refused leaves its key free', async (t) => {
    const { deviceId } = await world.registerDevice();
    const path = `${tenant.path}/devices/${deviceId}`;
    const headers = { 'idempotency-key': 'early' };
    t.match(await tenant.api.delete(path, { headers }), { status: 403 });
    const late = await tenant.api.post(path, { headers, json: {} });
    t.match(late, { status: 201, headers: { 'idempotency-replayed': undefined } });
    t.match(await tenant.api.post(path, { headers, json: {} }), { status: 201, body: late.body }, 'a replay, not 403');
  });

  t.test('applications do not share keys', async (t) => {
    const rival = await world.createTenant('rival');
    const theirs = await world.activatedDevice(rival);
    const ours = await tenant.api.put(wifi, keyed('shared'));
    const answer = await rival.api.put(`${theirs.path}/settings/wifi`, keyed('shared'));
    t.match(answer, { status: 201, headers: { 'idempotency-replayed': undefined } });
    t.not(transactionIdOf(answer), transactionIdOf(ours));
  });

  t.test(
    '50 parallel requests with one key make one transaction: the others wait their turn or get its answer',
    async (t) => {
      const before = (await tenant.api.get(`${device.path}/transactions`)).body.total;
      const answers = await Promise.all(Array.from({ length: 50 }, () => tenant.api.put(wifi, keyed('burst'))));
      const made = answers.filter(({ status }) => status === 201);
      t.ok(answers.every(({ status }) => status === 201 || status === 409));
      t.equal(made.filter(({ headers }) => headers['idempotency-replayed'] === undefined).length, 1);
      t.equal(new Set(made.map(transactionIdOf)).size, 1);
      t.equal((await tenant.api.get(`${device.path}/transactions`)).body.total, before + 1);
      t.match(await tenant.api.put(wifi, keyed('burst')), { status: 201, headers: { 'idempotency-replayed': 'true' } });
    },
  );

  t.test('each outcome is counted', async (t) => {
    const text = (await world.anonymousAdmin().get('/metrics')).body as string;
    for (const outcome of ['first', 'replayed', 'reused'])
      t.match(text, new RegExp(`lapel_idempotency_keys_total\\{outcome="${outcome}"\\} [1-9]`));
  });
});

t.test('a repetition while the first request is running is refused, and makes no transaction', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  let round = 0;
  // The first request is running until its commit, which mostly lasts longer than the others need to arrive.
  await until(async () => {
    round += 1;
    const ask = () => tenant.api.put(`${device.path}/settings/wifi`, keyed(`round ${round}`));
    const answers = await Promise.all(Array.from({ length: 8 }, ask));
    const refused = answers.filter(({ status }) => status !== 201);
    for (const answer of refused)
      t.match(answer, { status: 409, headers: { 'lapel-error-code': 'IDEMPOTENCY_KEY_RUNNING' } });
    t.equal((await tenant.api.get(`${device.path}/transactions`)).body.total, 1 + round);
    return refused.length > 0;
  });
});
