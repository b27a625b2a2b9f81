import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkChain, sealEntry } from '../../src/core/audit/audit-chain.ts';
import { insertEntry } from '../../src/core/audit/audit-repository.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { run } from '../cli/run.ts';
import { runMain } from '../flow/service-process.ts';
import { createDatabase, NO_POSTGRES } from '../postgres/databases.ts';
import { until } from '../until.ts';
import { deviceIdOf, startWorld, type World } from '../world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface Entry {
  auditId: number;
  position: number | null;
  hash: string | null;
  status: number | null;
  details: Record<string, unknown> | null;
}

const verify = async (world: World, query = '') =>
  (await world.admin().get(`/admin/v1/audit/verification${query}`)).body;

async function change(world: World, count: number, prefix: string): Promise<void> {
  const admin = world.admin();
  for (let number = 0; number < count; number += 1)
    await admin.post('/admin/v1/developers', { json: { developerId: `${prefix}-${number}`, name: 'x' } });
}

for (const database of ['sqlite', 'postgres'] as const) {
  const skip = database === 'postgres' && NO_POSTGRES;
  t.test(`the audit log is a chain (${database})`, { skip }, async (t) => {
    const world = await startWorld(t, { database, env: { LAPEL_AUDIT_RETENTION_DAYS: '30' } });
    const tenant = await world.createTenant();
    const admin = world.admin();
    const raw = await world.raw();
    const list = async () => (await admin.get('/admin/v1/audit?limit=1000')).body.entries as Entry[];
    /** The place of the entry about a developer. */
    const positionOf = async (developerId: string): Promise<number> => {
      const [entry] = (await admin.get(`/admin/v1/audit?about=developer:${developerId}&limit=1`)).body.entries;
      return entry.position;
    };

    await t.test('each complete entry has the next position, and the hash of itself and the one before', async (t) => {
      await change(world, 3, 'first');
      const entries = (await list()).toReversed();
      t.same(
        entries.map(({ position }) => position),
        entries.map((_, index) => index + 1),
      );
      t.equal(new Set(entries.map(({ hash }) => hash)).size, entries.length);
      const found = await verify(world);
      const last = entries.at(-1);
      t.match(found, { from: 1, entries: entries.length, open: 0, earlier: 0, broken: null });
      t.same(found.head, { position: last?.position, hash: last?.hash });
    });

    await t.test('the database refuses to change or remove an entry, and its objects', async (t) => {
      const before = JSON.stringify(await list());
      for (const statement of [
        "UPDATE audit_log SET actor_kind = 'service' WHERE position = 2",
        "UPDATE audit_log SET details = '{}'",
        'UPDATE audit_log SET position = NULL WHERE position = 2',
        'DELETE FROM audit_log WHERE position = 2',
        'DELETE FROM audit_log',
        "UPDATE audit_objects SET object_id = 'other'",
        'DELETE FROM audit_objects',
        ...(database === 'postgres' ? ['TRUNCATE audit_log', 'TRUNCATE audit_objects'] : []),
      ])
        await t.rejects(raw.exec(statement), /audit log/, statement);
      t.equal(JSON.stringify(await list()), before);
    });

    await t.test('an import, whose number of devices comes last, is part of the chain when it has ended', async (t) => {
      const lines = `{"deviceId":"${deviceIdOf(901)}"}\n{"deviceId":"${deviceIdOf(902)}"}`;
      const headers = { 'content-type': 'application/x-ndjson' };
      await admin.post('/admin/v1/developers/dev/devices/import', { text: lines, headers });
      await world.idle();
      t.match((await list())[0], { status: 200, details: { registered: 2, refused: 0 }, position: Number });
      t.match(await verify(world), { open: 0, broken: null });
    });

    await t.test('the entry of a refusal that may be repeated is complete after its minute', async (t) => {
      const register = () => tenant.api.post(`${tenant.path}/packages`, { json: { package: 'com.lapel.reserved' } });
      for (let count = 0; count < 3; count += 1) t.equal((await register()).status, 400);
      t.match((await list())[0], { status: 400, details: { repeated: 2 }, position: null });
      t.match(await verify(world), { open: 1, broken: null });
      world.clock.advance(MINUTE);
      await world.idle();
      t.match((await list())[0], { details: { repeated: 2 }, position: Number });
      t.match(await verify(world), { open: 0, broken: null });
    });

    await t.test('the entry of a process that was killed is sealed as it is', async (t) => {
      const [last] = await raw.all<{ at: number }>('SELECT MAX(at) AS at FROM audit_log');
      await raw.exec(`INSERT INTO audit_log (at, actor_kind, action, resource, request_id)
        VALUES (${last?.at}, 'token', 'POST /x', '/x', 'killed')`);
      t.match(await verify(world), { open: 1 });
      world.clock.advance(2 * HOUR);
      await world.idle();
      world.clock.advance(HOUR);
      await world.idle();
      t.match(await verify(world), { open: 0, broken: null });
      t.match((await list())[0], { status: null, position: Number });
    });

    await t.test('an end that was noted is part of the chain later; another hash is not', async (t) => {
      const { head } = await verify(world);
      await change(world, 2, 'noted');
      const at = (position: number, hash: string) => verify(world, `?position=${position}&hash=${hash}`);
      t.match(await at(head.position, head.hash), { broken: null });
      t.match(await at(head.position, 'f'.repeat(64)), { broken: { position: head.position, reason: /noted/ } });
      t.match(await at(head.position + 1000, head.hash), { broken: { reason: 'it is missing' } });
      t.equal((await admin.get('/admin/v1/audit/verification?hash=x')).status, 400);
    });

    await t.test('the log is exported as lines of JSON', async (t) => {
      const { headers, body } = await admin.get('/admin/v1/audit/export');
      t.equal(headers['content-type'], 'application/x-ndjson');
      const entries = await list();
      const lines = String(body)
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      t.same(lines, entries);
      const some = await admin.get('/admin/v1/audit/export?about=developer:first-1');
      t.match(JSON.parse(String(some.body)), { action: 'POST /admin/v1/developers', position: Number });
      const { addresses, adminToken } = world.service;
      const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
      const shown = await run(['admin', 'audit', 'export'], { env });
      t.equal(shown.stdout.trim().split('\n').length, entries.length);
      t.match(await run(['admin', 'audit', 'verify'], { env }), {
        code: 0,
        stdout: /entries are as they were written, from position 1 on\.\nThe end of the chain.* --hash [0-9a-f]{64}\n/,
      });
    });

    await t.test('old entries are removed from the beginning only, and the rest can still be checked', async (t) => {
      const { head } = await verify(world);
      world.clock.leap(31 * DAY);
      await change(world, 2, 'kept');
      world.clock.advance(11 * MINUTE);
      await world.idle();
      const entries = await list();
      t.same(
        entries.map(({ position }) => position),
        [head.position + 2, head.position + 1],
      );
      t.match(await verify(world), { from: head.position + 1, entries: 2, broken: null });
      t.match(await verify(world, `?position=${head.position}&hash=${head.hash}`), { broken: null });
      t.same(await raw.all('SELECT * FROM audit_objects WHERE audit_id NOT IN (SELECT audit_id FROM audit_log)'), []);
      await t.rejects(raw.exec('DELETE FROM audit_log'), /audit log/);
    });

    await t.test('the first entry that somebody has changed, removed or inserted is named', async (t) => {
      await change(world, 6, 'tampered');
      const good = await verify(world);
      t.equal(good.broken, null);
      const trigger = (name: string, of: string) =>
        database === 'postgres' ? `ALTER TABLE ${of} DISABLE TRIGGER ${name}` : `DROP TRIGGER ${name}`;
      await raw.exec(trigger('audit_log_is_kept', 'audit_log'));
      await raw.exec(trigger('audit_log_stays', 'audit_log'));
      await raw.exec(trigger('audit_objects_stay', 'audit_objects'));
      await raw.exec(trigger('audit_objects_are_kept', 'audit_objects'));
      const brokenAt = async () => (await verify(world)).broken;
      const third = await positionOf('tampered-3');
      const where = `WHERE position = ${third}`;

      await raw.exec(`UPDATE audit_log SET address = '192.0.2.1' ${where}`);
      t.match(await brokenAt(), { position: third, auditId: Number, reason: /changed/ });
      const place = {
        LAPEL_DATA_DIR: world.dataDir,
        ...(world.databaseUrl !== null && { LAPEL_DATABASE_URL: world.databaseUrl }),
      };
      const checked = await runMain(t, ['audit', 'verify'], place);
      t.match(checked, {
        code: 1,
        stderr: new RegExp(`^lapel: the entry at position ${third} \\(auditId \\d+\\) is not as`),
      });
      const { addresses, adminToken } = world.service;
      const env = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
      t.match(await run(['admin', 'audit', 'verify', '--json'], { env }), { code: 1, stdout: /"ok": ?false/ });
      await raw.exec(`UPDATE audit_log SET address = '127.0.0.1' ${where}`);
      t.equal(await brokenAt(), null, 'as it was');
      t.match(await runMain(t, ['audit', 'verify'], place), { code: 0, stdout: /are as they were written/ });

      const objects = `FROM audit_objects WHERE audit_id = (SELECT audit_id FROM audit_log ${where})`;
      await raw.exec(
        `UPDATE audit_objects SET object_id = 'nobody' WHERE audit_id = (SELECT audit_id FROM audit_log ${where})`,
      );
      t.match(await brokenAt(), { position: third });
      await raw.exec(
        `UPDATE audit_objects SET object_id = 'tampered-3' WHERE audit_id = (SELECT audit_id FROM audit_log ${where})`,
      );
      t.equal(await brokenAt(), null);

      await raw.exec(`DELETE ${objects}`);
      await raw.exec(`DELETE FROM audit_log ${where}`);
      t.match(await brokenAt(), { position: third, auditId: null, reason: 'it is missing' });
      // To close the gap changes the positions, and so the hashes.
      for (let position = third + 1; position <= good.head.position; position += 1)
        await raw.exec(`UPDATE audit_log SET position = ${position - 1} WHERE position = ${position}`);
      t.match(await brokenAt(), { position: third, reason: /changed/ });
    });

    await t.test('a removed end of the chain is missed', async (t) => {
      await raw.exec('DELETE FROM audit_objects');
      await raw.exec('DELETE FROM audit_log');
      t.match(await verify(world), { entries: 0, broken: { reason: 'it is missing' } });
    });
  });
}

t.test('entries of earlier releases stay as they are, and are counted', async (t) => {
  const { database } = openTestDatabase(t);
  const nobody = { actorName: null, personId: null, personName: null, tokenName: null, address: null } as const;
  const entry = { ...nobody, at: 1, actorKind: 'token', action: 'GET /', resource: '/', requestId: 'r' } as const;
  const insert = () => database.transact((unit) => insertEntry(unit, entry));
  t.match(await checkChain(database.read), { entries: 0, from: 1, earlier: 0, open: 0, broken: null });
  await insert();
  await insert();
  t.match(await checkChain(database.read), { entries: 0, earlier: 2, open: 0, broken: null });
  const third = await insert();
  await database.transact((unit) => sealEntry(unit, third));
  await database.transact((unit) => sealEntry(unit, third));
  await insert();
  t.match(await checkChain(database.read), { entries: 1, earlier: 2, open: 1, head: { position: 1 }, broken: null });
  const known = { position: 5, hash: 'f'.repeat(64) };
  t.match(await checkChain(database.read, known), { broken: { position: 5, reason: 'it is missing' } });
});

t.test('several nodes write one chain, in the order of their commits', { skip: NO_POSTGRES }, async (t) => {
  const world = await startWorld(t, { nodes: 2 });
  const admins = [world.admin(), world.admin({ node: 1 })];
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, number) =>
      admins[number % 2]!.post('/admin/v1/developers', { json: { developerId: `many-${number}`, name: 'x' } }),
    ),
  );
  // An attempt has its entry, too: PostgreSQL of a busy machine may be too late for an answer.
  for (const { status } of answers) t.ok([201, 503].includes(status));
  const found = await verify(world);
  t.match(found, { from: 1, broken: null, open: 0 });
  t.ok(found.entries >= 40);
});

for (const database of ['sqlite', 'postgres'] as const) {
  const skip = database === 'postgres' && NO_POSTGRES;
  t.test(`the end of the chain is sealed with the encryption key (${database})`, { skip }, async (t) => {
    const dataDir = t.testdir();
    const keys = join(dataDir, 'keys');
    const [first, second] = ['first', 'second'].map((id) => `${id} ${randomBytes(32).toString('base64')}`);
    writeFileSync(keys, `${first}\n`);
    const env = {
      LAPEL_ENCRYPTION_KEY_FILE: keys,
      ...(database === 'postgres' && { LAPEL_DATABASE_URL: await createDatabase(t) }),
    };
    const world = await startWorld(t, { dataDir, database, env });
    await change(world, 2, 'sealed');
    const raw = await world.raw();
    const sealOf = async () => (await verify(world)).seal;
    const stored = async () => {
      const [chain] = await raw.all<{ position: number; hash: string; seal: string }>(
        'SELECT position, hash, seal FROM audit_chain',
      );
      return chain as { position: number; hash: string; seal: string };
    };
    const putSeal = (seal: string | null) => raw.all('UPDATE audit_chain SET seal = ?', seal);

    await t.test('each new end, since the first with a key', async (t) => {
      t.same(await sealOf(), { state: 'right', since: 1, keyId: 'first' });
      const { addresses, adminToken } = world.service;
      const account = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
      t.match(await run(['admin', 'audit', 'verify'], { env: account }), {
        code: 0,
        stdout: /sealed with the encryption key first, and so was each since position 1\./,
      });
      const place = { LAPEL_DATA_DIR: dataDir, ...env };
      t.match(await runMain(t, ['audit', 'verify'], place), { code: 0, stdout: /first, which is not known here/ });
    });

    await t.test('a rotation seals the end with the new key', async (t) => {
      writeFileSync(keys, `${second}\n${first}\n`);
      t.equal((await world.admin().post('/admin/v1/encryption/rotation')).status, 202);
      await until(async () => {
        world.clock.advance(1_000);
        return (await world.admin().get('/admin/v1/encryption')).body.rotation?.state === 'ended';
      });
      t.same(await sealOf(), { state: 'right', since: 1, keyId: 'second' });
    });

    await t.test('an end that was written without the key has none, and the next says since when', async (t) => {
      await raw.exec('UPDATE audit_chain SET seal = NULL');
      t.same(await sealOf(), { state: 'none', since: null, keyId: null });
      await change(world, 1, 'again');
      const { position } = await stored();
      t.same(await sealOf(), { state: 'right', since: position, keyId: 'second' });
    });

    await t.test('a seal by an unknown key is said to be one', async (t) => {
      const { seal } = await stored();
      await putSeal(seal.replace(':second:', ':third:'));
      t.same(await sealOf(), { state: 'unknownKey', since: null, keyId: 'third' });
      t.equal((await verify(world)).broken, null);
      await putSeal(seal);
    });

    await t.test('a seal of an end that is not the stored one is wrong, and stays wrong', async (t) => {
      const { position, hash, seal } = await stored();
      await change(world, 1, 'later');
      const later = await stored();
      await raw.all('UPDATE audit_chain SET hash = ?, seal = ? WHERE position = ?', hash, later.seal, later.position);
      t.match(await verify(world), { seal: { state: 'wrong' } });
      await raw.all('UPDATE audit_chain SET hash = ?', later.hash);
      for (const forged of [`${position} ${later.position} ${later.hash}`, `${later.seal.slice(0, -6)}AAAAAA`]) {
        await putSeal(forged);
        const found = await verify(world);
        t.match(found, {
          seal: { state: 'wrong' },
          broken: { position: later.position, reason: /did not have the encryption key/ },
        });
      }
      await change(world, 1, 'covered');
      t.match(await sealOf(), { state: 'wrong' }, 'the next entry covers no tracks');
      await putSeal(seal);
      t.match(await sealOf(), { state: 'none', keyId: 'second' }, 'a seal of a former end is none of this one');
    });

    await t.test('a service without a key says that there is none', async (t) => {
      const plain = await startWorld(t, { database });
      await change(plain, 1, 'plain');
      t.same((await verify(plain)).seal, { state: 'none', since: null, keyId: null });
      const { addresses, adminToken } = plain.service;
      const account = { LAPEL_ADMIN_TOKEN: adminToken, LAPEL_ADMIN_URL: addresses.admin };
      t.match(await run(['admin', 'audit', 'verify'], { env: account }), { code: 0, stdout: /The end has no seal/ });
    });
  });
}
