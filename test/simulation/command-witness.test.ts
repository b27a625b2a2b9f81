import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { createCommandWitness } from './command-witness.ts';
import { DatabaseEyes } from './database-eyes.ts';
import { BEGIN } from './time.ts';

const MINUTE = 60_000;

/** A witness of a database with a command that was published once, and the promises that it found broken. */
async function witnessOf(t: Test) {
  const folder = t.testdir();
  await openSqlite({ folder, nowMicros: 0 }).close();
  const database = new Sqlite(join(folder, 'lapel.db'));
  const eyes = new DatabaseEyes();
  eyes.use(join(folder, 'lapel.db'));
  t.teardown(() => {
    eyes.use(undefined);
    database.close();
  });
  database.exec(`INSERT INTO transactions (transaction_id, device_id, application_id, operation, status, due, attempts,
    created_at, updated_at, published_at) VALUES (1, '1', 'app', 'setWifi', 'queued', 1, 1, 1, 1, 1)`);
  const broken = new Set<string>();
  const world = { now: 1_000, isHeldUp: false };
  const witness = createCommandWitness({
    eyes,
    now: () => world.now,
    knownUntil: () => world.now,
    isTimeRight: true,
    isHeldUp: () => world.isHeldUp,
    inFlight: 1,
    broken: (promise) => broken.add(promise),
  });
  const found = (): string[] => {
    witness.look();
    const all = [...broken];
    broken.clear();
    return all;
  };
  return { witness, world, found, change: (text: string) => database.exec(text) };
}
const command = (transactionId: number, attempt = 1) => ({ transactionId, operation: 'setWifi', attempt });

t.test('what is written is stored, goes on, and has room', async (t) => {
  const { witness, world, found, change } = await witnessOf(t);
  const device = witness.connected('1');
  device.wrote(command(1));
  t.same(found(), []);
  device.wrote({ ...command(1), operation: 'cancel' });
  t.same(found(), ['a device has room for its commands']);
  witness.heard('1', 1);
  device.wrote(command(1, 2));
  t.same(found(), ['an attempt is counted before it is made']);
  const end = (at: number): unknown =>
    change(`UPDATE transactions SET completed_at = ${at * 1000}, status = 'succeeded', due = 0`);
  end(BEGIN + world.now - 10);
  witness.heard('1', 1);
  device.wrote(command(1));
  t.same(found(), ['what has ended is not sent']);
  end(BEGIN + world.now);
  witness.heard('1', 1);
  device.wrote(command(1));
  t.same(found(), [], 'the service does not know it yet');
  change(`DELETE FROM transactions`);
  t.same(found(), [], 'what has ended may go');
});

t.test('what was sent stays, and a pause holds it', async (t) => {
  const { witness, world, found, change } = await witnessOf(t);
  const device = witness.connected('1');
  change(`INSERT INTO rollouts (rollout_id, application_id, operation, selector, plan, state, at_work, publishes, drained,
      stage, approved, devices, entries, created_at)
      VALUES ('r', 'app', 'setWifi', '{}', '{}', 'paused', 1, 0, 1, 0, -1, 1, 1, 1);
    INSERT INTO rollout_entries (rollout_id, entry, at, event, stage, actor, reason) VALUES ('r', 1, ${(BEGIN + world.now - 10) * 1000}, 'paused', 0, 'service', NULL);
    UPDATE transactions SET rollout_id = 'r'`);
  device.wrote(command(1));
  t.same(found(), ['what a pause holds is not sent']);
  change('DELETE FROM transactions');
  t.same(found(), ['what was sent stays']);
});

t.test('what is over its time is not sent, unless its PUBACK is stored at the same time', async (t) => {
  const { witness, world, found, change } = await witnessOf(t);
  const device = witness.connected('1');
  change(`UPDATE transactions SET ends_at = ${(BEGIN + 500) * 1000}`);
  witness.committed();
  change('UPDATE transactions SET attempts = 2');
  witness.committed();
  device.wrote(command(1, 2));
  t.same(found(), ['what is over its time is not sent']);
  world.now += 1_000;
  change(`UPDATE transactions SET attempts = 3, delivered_at = ${(BEGIN + 400) * 1000}`);
  witness.committed();
  witness.heard('1', 1);
  device.wrote(command(1, 3));
  t.same(found(), []);
});

t.test('what is due is written soon, unless the disk is full', async (t) => {
  const { witness, world, found } = await witnessOf(t);
  witness.connected('1');
  t.same(found(), []);
  world.isHeldUp = true;
  world.now += MINUTE;
  t.same(found(), []);
  world.isHeldUp = false;
  t.same(found(), []);
  world.now += MINUTE;
  t.same(found(), ['what is due is written']);
  witness.connected('1').closed();
  world.now += MINUTE;
  t.same(found(), [], 'nobody is connected');
});

t.test('a PUBACK is stored, and saves its command', async (t) => {
  const { witness, world, found, change } = await witnessOf(t);
  witness.acknowledged(1, (BEGIN + 1) * 1000);
  witness.cancelAcknowledged(1);
  t.same(found(), []);
  world.now += MINUTE;
  t.same(found(), ['a PUBACK is stored', 'the PUBACK of a cancel is stored']);
  witness.acknowledged(1, (BEGIN + 1) * 1000);
  change(
    `UPDATE transactions SET status = 'failed', error_code = 'EXPIRED', completed_at = ${(BEGIN + 2) * 1000}, late = ''`,
  );
  t.same(found(), ['a command with a PUBACK does not expire']);
  witness.acknowledged(1, (BEGIN + 1) * 1000);
  change(`UPDATE transactions SET delivered_at = ${(BEGIN + 1) * 1000}`);
  t.same(found(), ['a command with a PUBACK does not expire'], 'its time was stored after that');
  witness.answered(1);
  t.same(found(), ['a late answer is kept']);
});

t.test('a restore takes the PUBACKs that the service heard while it ended', async (t) => {
  const { witness, world, found } = await witnessOf(t);
  witness.forget();
  witness.acknowledged(1, (BEGIN + 1) * 1000);
  witness.cancelAcknowledged(1);
  witness.restored();
  world.now += MINUTE;
  t.same(found(), []);
});
