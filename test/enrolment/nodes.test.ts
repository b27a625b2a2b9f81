import t from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { deviceIdOf, insist, startWorld } from '../world.ts';
import { NONCE, startEnrolment } from './enrolment-world.ts';

t.test('a batch of two nodes', { ...(NO_POSTGRES && { skip: NO_POSTGRES }) }, async (t) => {
  const world = await startWorld(t, { nodes: 2 });
  const { admin, batch } = await startEnrolment(world);
  const ask = (...asked: Parameters<typeof askOnce>) => insist(() => askOnce(...asked));
  async function askOnce(node: number, deviceId: string, code: string) {
    const answer = await fetch(`${world.nodes[node]?.addresses.http}/v1/enrolments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ deviceId, code, nonce: NONCE }),
    });
    return { status: answer.status, body: (await answer.json()) as { credential?: string } };
  }

  await t.test('takes exactly as many devices as may, wherever they ask', async (t) => {
    const { code, batchId } = await batch({ mostDevices: 15 });
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, at) => ask(at % 2, deviceIdOf(6000 + Math.floor(at / 2)), code)),
    );
    const enrolled = (await admin.get(`/admin/v1/enrolment-batches/${batchId}`)).body.enrolled;
    t.equal(enrolled, 15);
    t.equal(all.filter(({ status }) => status !== 201 && status !== 403).length, 0, 'no other answers');
    const { devices } = (await admin.get(`/admin/v1/enrolment-batches/${batchId}/devices`)).body;
    t.equal(devices.length, 15);
  });

  await t.test('delays nobody while its devices wait for one another', async (t) => {
    const { code, batchId } = await batch();
    const raw = await world.raw();
    await raw.exec('BEGIN');
    await raw.all('SELECT 1 AS one FROM enrolment_batches WHERE batch_id = ? FOR UPDATE', batchId);
    const ended: string[] = [];
    const note = (what: string) => (answer: { status: number }) => {
      ended.push(what);
      return answer.status;
    };
    const devices = Array.from({ length: 8 }, (_, at) => ask(0, deviceIdOf(6200 + at), code).then(note('device')));
    await until(async () => {
      const waiting = await raw.all(
        "SELECT 1 AS one FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
      );
      return waiting.length > 0;
    });
    const others = ['one', 'two'].map((developerId) =>
      admin.post('/admin/v1/developers', { json: { developerId, name: developerId } }).then(note('developer')),
    );
    t.same(await Promise.all(others), [201, 201]);
    t.same(ended, ['developer', 'developer']);
    await raw.exec('ROLLBACK');
    t.same(new Set(await Promise.all(devices)), new Set([201]));
  });

  await t.test('gives a device that asks both one valid credential, and a revoked code ends at both', async (t) => {
    const { code, batchId } = await batch();
    const deviceId = deviceIdOf(6100);
    const both = await Promise.all([0, 1, 0, 1].map((node) => ask(node, deviceId, code)));
    t.same([...new Set(both.map(({ status }) => status))], [201]);
    let valid = 0;
    for (const { body } of both) {
      const link = await world.open({ deviceId, credential: body.credential ?? '', node: 1 });
      if ((await link.login()).returnCode === 0) valid += 1;
      link.socket.destroy();
    }
    t.equal(valid, 1);
    await admin.post(`/admin/v1/enrolment-batches/${batchId}/revoke`);
    for (const node of [0, 1]) t.equal((await ask(node, deviceIdOf(6101), code)).status, 403);
  });

  await t.test('takes no device that is registered between its reads for one that has never asked', async (t) => {
    const { code, batchId } = await batch();
    const deviceId = deviceIdOf(6300);
    t.equal((await ask(0, deviceId, code)).status, 201);
    const raw = await world.raw();
    await raw.exec(`CREATE TABLE asked_before AS SELECT * FROM enrolments WHERE batch_id = '${batchId}'`);
    await raw.exec(`DELETE FROM enrolments WHERE batch_id = '${batchId}'`);
    await raw.exec('BEGIN');
    await raw.exec('LOCK TABLE devices IN ACCESS EXCLUSIVE MODE');
    await raw.exec('INSERT INTO enrolments SELECT * FROM asked_before');
    const again = ask(1, deviceId, code);
    await until(async () => {
      const waiting = await raw.all(
        `SELECT 1 AS one FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE '%FROM devices%'`,
      );
      return waiting.length > 0;
    });
    await raw.exec('COMMIT');
    t.equal((await again).status, 201, 'its first answer may have been lost');
  });
});
