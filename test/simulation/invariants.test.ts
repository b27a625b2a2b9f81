import { copyFileSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t from 'tap';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { patchedFiles } from '../breakages/planted-copy.ts';
import { IN_WORLDS } from './breakages-in-worlds.ts';
import { DatabaseEyes } from './database-eyes.ts';
import { FAULTS } from './faults.ts';
import { createInvariants } from './invariants.ts';
import { ALWAYS, AT_THE_END } from './promised-rows.ts';
import { BEGIN } from './time.ts';

/** Rows that keep all promises: a device, its application, a finished command with its webhook, a rollout that is paused. */
const SOUND = `
  INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'Dev', 1), ('other', 'Other', 1);
  INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at)
    VALUES ('app', 'dev', 'App', X'00', 1), ('far', 'other', 'Far', X'01', 1);
  INSERT INTO devices (device_id, developer_id, credential_hash, activation, application_id, client_id, created_at)
    VALUES ('1', 'dev', X'00', 'activated', 'app', 'c', 1);
  INSERT INTO activated_counts VALUES ('app', 1);
  INSERT INTO packages (line, package, developer_id, for_all, created_at, updated_at)
    VALUES ('software', 'p', 'dev', 1, 1, 1);
  INSERT INTO versions (line, package, version, sort_key, binary_id, created_at, updated_at)
    VALUES ('software', 'p', '1', '1', 'b', 1, 1);
  INSERT INTO developer_usage VALUES ('dev', 1, 1, 0);
  INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts, created_at,
      updated_at, published_at, delivered_at, completed_at)
    VALUES (1, '1', 'app', 'setWifi', 'succeeded', 0, 1, 1, 5, 2, 3, 5);
  INSERT INTO deliveries (application_id, delivery_id, transaction_id, setting, type, body, status, attempts, created_at,
      updated_at) VALUES ('app', 'm1', 1, 'deviceEvent', 'transaction.succeeded', '{}', 'delivered', 1, 5, 5);
  INSERT INTO rollouts (rollout_id, application_id, operation, selector, plan, state, at_work, publishes, drained, stage,
      approved, devices, entries, created_at) VALUES ('r', 'app', 'setWifi', '{}', '{}', 'paused', 1, 0, 1, 0, -1, 1, 1, 1);
  INSERT INTO rollout_entries (rollout_id, entry, at, event, stage, actor, reason) VALUES ('r', 1, 10, 'paused', 0, 'service', NULL);
  INSERT INTO rollout_members VALUES ('r', '1', 0, 0, 'succeeded', 1, 1, NULL, 0, 5);
  INSERT INTO rollout_counts VALUES ('r', 0, 'succeeded', '', 1);`;

const QUEUED = `INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts,
  created_at, updated_at, published_at, delivered_at, rollout_id, error_code, expires_at, completed_at)`;

const ENDPOINT = `INSERT INTO endpoints (application_id, endpoint_id, url, types, description, enabled, ordered, paced_until,
  secret, after_sequence, passed_over, failed_in_row, refused_in_row, created_at, updated_at)
  VALUES ('app', 'ep_1', 'u', '', '', 1, 1, 0, 's', 9, 0, 0, 0, 1, 1);`;
const TAKEN = `INSERT INTO endpoint_deliveries (application_id, endpoint_id, sequence, event_id, device_id, type, status, attempts,
  round, next_attempt_at, created_at, updated_at) VALUES`;

/** For each invariant, a change after which it does not hold. */
const BROKEN: Readonly<Record<string, string>> = {
  'counts of a rollout': `UPDATE rollout_counts SET devices = 2`,
  'devices of an application': `UPDATE activated_counts SET activated = 0`,
  'usage of a developer': `UPDATE developer_usage SET versions = 2`,
  'one result': `UPDATE transactions SET parameters = '{}'`,
  'nobody forgets a command': `${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 0, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL)`,
  'commands move': `${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL);
    INSERT INTO lives VALUES (1, 'life', '', 1);
    INSERT INTO connection_log (device_id, fact_id, kind, at, last_at, count, is_open) VALUES ('1', 'f', 'connected', 2, 2, 1, 1)`,
  'places are given': `UPDATE rollouts SET state = 'running', publishes = 1, plan = '{"maxUnfinished":1}';
    UPDATE rollout_members SET state = 'unfinished', code = 'NO_PLACE';
    INSERT INTO lives VALUES (1, 'life', '', 1);
    INSERT INTO connection_log (device_id, fact_id, kind, at, last_at, count, is_open) VALUES ('1', 'f', 'connected', 2, 2, 1, 1)`,
  'delivered is said by the device': `UPDATE transactions SET published_at = NULL`,
  'one webhook per result': `INSERT INTO deliveries (application_id, delivery_id, transaction_id, setting, type, body, status,
    attempts, created_at, updated_at) VALUES ('app', 'm2', 1, 'deviceEvent', 'transaction.succeeded', '{}', 'gone', 1, 5, 5)`,
  'no webhook without its result': `UPDATE deliveries SET type = 'transaction.failed'`,
  'somebody looks again': `UPDATE deliveries SET status = 'pending'`,
  'a place for each event': `UPDATE deliveries SET device_id = '1', sequence = 1, device_sequence = 1;
    INSERT INTO deliveries (application_id, delivery_id, device_id, sequence, device_sequence, setting, type, body, status,
      attempts, created_at, updated_at) VALUES ('app', 'm2', '1', 2, 3, 'deviceEvent', 'test', '{}', 'unsent', 0, 5, 5)`,
  'one event of a device at a time': `${ENDPOINT} ${TAKEN} ('app', 'ep_1', 1, 'm1', '1', 'test', 'blocked', 0, 0, 1, 1, 1)`,
  'an endpoint passes over no event': `${ENDPOINT} UPDATE deliveries SET sequence = 2, type = 'x'; ${TAKEN} ('app', 'ep_1', 1, 'm0', '1', 'test', 'delivered', 1, 0, NULL, 1, 1)`,
  'tenants apart': `UPDATE devices SET application_id = 'far'; UPDATE activated_counts SET application_id = 'far'`,
  'members and commands': `UPDATE rollout_members SET state = 'unfinished'; UPDATE rollout_counts SET state = 'unfinished'`,
  'audit is complete': `INSERT INTO audit_chain (one, position, hash, cut_position, cut_hash, first_id)
    VALUES (1, 3, '', 0, '', 0) ON CONFLICT (one) DO UPDATE SET position = 3`,
  'nothing after a pause': `${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 1, 1, 1, 1, 11, NULL, 'r', NULL, NULL, NULL)`,
  'pauses take back': `${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 1, 0, 1, 1, NULL, NULL, 'r', NULL, NULL, NULL);
    UPDATE rollouts SET drained = 1; UPDATE rollout_members SET state = 'unfinished', transaction_id = 2`,
  'cancels take back': `UPDATE rollouts SET state = 'cancelled', at_work = 0; UPDATE rollout_members SET state = 'waiting';
    UPDATE rollout_counts SET state = 'waiting'`,
  'terms end commands': `${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 1, 1, 1, 1, 2, NULL, NULL, NULL, 8, NULL);
    INSERT INTO lives VALUES (1, 'life', '', 1); UPDATE transactions SET ends_at = 8 WHERE transaction_id = 2`,
  'nothing of a rollout after a restore': `INSERT INTO lives VALUES (1, 'life', '', 1);
    INSERT INTO rollout_entries (rollout_id, entry, at, event, stage, actor, reason) VALUES ('r', 7, 20, 'paused', NULL, 'service', 'DATABASE_RESTORED');
    ${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 1, 1, 1, 1, 11, NULL, 'r', NULL, NULL, NULL)`,
  'expired is not done': `${QUEUED} VALUES (2, '1', 'app', 'x', 'succeeded', 0, 1, 1, 1, 9, NULL, NULL, NULL, 8, 10)`,
  'commands come to their end': `${QUEUED} VALUES (2, '1', 'app', 'x', 'queued', 1, 0, 1, 1, NULL, NULL, NULL, NULL, NULL, NULL);
    INSERT INTO lives VALUES (1, 'life', '', 1);
    INSERT INTO connection_log (device_id, fact_id, kind, at, last_at, count, is_open) VALUES ('1', 'f', 'connected', 2, 2, 1, 1)`,
  'webhooks come to their end': `UPDATE deliveries SET status = 'pending', attempts = 0, next_attempt_at = 5`,
  'endpoints come to their end': `${ENDPOINT} ${TAKEN} ('app', 'ep_1', 1, 'm1', '1', 'test', 'pending', 0, 0, 1, 1, 1)`,
  'nothing is left in work': `UPDATE devices SET blocked = 1`,
};

async function soundDatabase(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  await openSqlite({ folder, nowMicros: 0 }).close();
  const file = join(folder, 'lapel.db');
  const database = new Sqlite(file);
  database.exec(SOUND);
  database.close();
  return file;
}

t.test('each invariant holds for sound rows, and finds the change that breaks it', async (t) => {
  const folder = t.testdir();
  const sound = await soundDatabase(join(folder, 'sound'));
  const look = (name: string, change: string): string[] => {
    const file = join(mkdtempSync(join(folder, 'changed-')), 'lapel.db');
    copyFileSync(sound, file);
    const database = new Sqlite(file);
    database.pragma('foreign_keys = OFF');
    database.exec(change);
    database.close();
    const eyes = new DatabaseEyes();
    eyes.use(file);
    const invariants = createInvariants(eyes, { isTimeRight: true });
    invariants.look(1);
    invariants.lookAtTheEnd(2);
    eyes.use(undefined);
    t.equal(invariants.looks(), 1, name);
    return invariants.broken().map((text) => text.split(', after')[0] ?? '');
  };
  t.same(look('sound', ''), []);
  const names = [...Object.keys(ALWAYS), ...Object.keys(AT_THE_END)];
  t.same(Object.keys(BROKEN), names, 'each invariant has a change that breaks it');
  for (const [name, change] of Object.entries(BROKEN)) t.ok(look(name, change).includes(name), name);
});

t.test('a look at changed commands sees these, and compares them with those of former looks', async (t) => {
  const folder = t.testdir();
  const sound = await soundDatabase(join(folder, 'sound'));
  const after = (change: string, since: number): string => {
    const file = join(mkdtempSync(join(folder, 'changed-')), 'lapel.db');
    copyFileSync(sound, file);
    const database = new Sqlite(file);
    database.pragma('foreign_keys = OFF');
    const eyes = new DatabaseEyes();
    eyes.use(file);
    const invariants = createInvariants(eyes, { isTimeRight: true });
    invariants.look(1);
    database.exec(`${change}; UPDATE transactions SET updated_at = ${(BEGIN + 100) * 1000}`);
    database.close();
    invariants.lookAtChanges(200, since);
    eyes.use(undefined);
    return invariants.broken().join();
  };
  const ofCommands = Object.entries(ALWAYS).filter(([, { isOfCommands }]) => isOfCommands);
  t.not(ofCommands.length, 0);
  for (const [name] of ofCommands) {
    t.match(after(BROKEN[name] ?? '', 50), name);
    t.equal(after(BROKEN[name] ?? '', 150), '');
  }
  t.match(after(`UPDATE transactions SET status = 'failed', error_code = 'LATER'`, 50), /a result stays/);
});

t.test('a number stays that of one command, and a result stays', async (t) => {
  const file = await soundDatabase(t.testdir());
  const eyes = new DatabaseEyes();
  eyes.use(file);
  const invariants = createInvariants(eyes, { isTimeRight: true });
  const database = new Sqlite(file);
  invariants.look(1);
  t.same(invariants.broken(), []);
  database.exec(`UPDATE transactions SET status = 'failed', error_code = 'LATER'`);
  invariants.look(2);
  t.match(invariants.broken().join(), /a result stays/);
  database.exec(`UPDATE transactions SET device_id = '2'`);
  invariants.look(3);
  t.match(invariants.broken().join(), /no number twice/);
  invariants.forget();
  database.exec(`UPDATE transactions SET device_id = '3'`);
  invariants.look(4);
  t.notMatch(invariants.broken().join(), /only the old is removed/);
  t.equal(invariants.broken().length, 4, 'after a kill, commits that were not on the disk have not taken place');
  database.exec(`UPDATE transactions SET completed_at = ${BEGIN * 1000}`);
  invariants.look(5);
  database.exec('DELETE FROM transactions');
  invariants.look(6);
  t.match(invariants.broken().join(), /only the old is removed/);
  database.exec(`UPDATE rollouts SET publishes = 0`);
  database.exec(`${QUEUED} VALUES (9, '1', 'app', 'x', 'queued', 1, 1, 1, 1, 2, NULL, 'r', NULL, NULL, NULL)`);
  invariants.look(7);
  t.notMatch(invariants.broken().join(), /nothing again/);
  database.exec('UPDATE transactions SET attempts = 2 WHERE transaction_id = 9');
  invariants.look(8);
  t.match(invariants.broken().join(), /nothing again in a pause/);
  database.close();
  eyes.use(undefined);
});

t.test('after a restore a device may have got what was never published, in the time that is lost', async (t) => {
  const file = await soundDatabase(t.testdir());
  const eyes = new DatabaseEyes();
  eyes.use(file);
  const invariants = createInvariants(eyes, { isTimeRight: true });
  const database = new Sqlite(file);
  invariants.restored(2);
  database.exec(BROKEN['delivered is said by the device'] ?? '');
  invariants.look(3);
  t.same(invariants.broken(), []);
  database.exec(`UPDATE transactions SET created_at = ${(BEGIN + 3) * 1000}`);
  invariants.look(4);
  t.match(invariants.broken().join(), /delivered is said by the device/, 'what was made since is judged as before');
  database.close();
  eyes.use(undefined);
});

t.test('each fault that can be planted fits the code of the service', async (t) => {
  t.equal(new Set(FAULTS.map(({ name }) => name)).size, FAULTS.length, 'their names differ');
  for (const { name, patches } of FAULTS) t.ok(patchedFiles(patches).size > 0, name);
  const breakages = FAULTS.filter(({ group }) => group === 'breakages').map(({ name }) => name);
  t.same(Object.keys(IN_WORLDS).sort(), breakages.sort(), 'of each breakage it is known whether the worlds find it');
});
