import t from 'tap';
import { openPostgres } from '../../../src/platform/database/postgres/open-postgres.ts';
import { setFormOf } from '../../../src/platform/database/postgres/sets.ts';
import { declaredSets, inSets, type ParameterType } from '../../../src/platform/database/set-form.ts';
import type { Database, SqlValue, UnitOfWork } from '../../../src/platform/database/sql.ts';
import '../../../src/service.ts'; // loads all rooms with their declarations
import { createRandom } from '@lapel/device-sim/random';
import { createDatabase, NO_POSTGRES } from '../../postgres/databases.ts';

const CALLS = 120;
const random = createRandom(1);
const one = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;

const DEVICES = ['d1', 'd2', 'd3', "d'4"];
const APPLICATIONS = ['a1', 'a2'];
const DELIVERIES = Array.from({ length: 12 }, (_, index) => `w${index}`);
const ENDPOINTS = ['ep1', 'ep2'];
const EVENTS = ['e1', 'e2', 'e3'];
const TRANSACTIONS = Array.from({ length: 24 }, (_, index) => index + 1);

let unique = 0;

/** A value for a parameter that fits the column which it is compared to or written to, so that most calls find rows. */
function valueFor(type: ParameterType, column: string): SqlValue {
  if (column === 'event_id') return one(EVENTS);
  if (column === 'request_id' || column === 'fact_id') return one(EVENTS);
  if (column === 'received_at') return one([2, 3]);
  if (column === 'last_seen_at') return one([1, 2, 3]);
  if (column === 'key_hash') return Buffer.from(one(EVENTS));
  if (type === 'bytea') return Buffer.from([0, 0x5c, Math.floor(random() * 256)]);
  if (column === 'device_id' || column === 'client_id') return one(DEVICES);
  if (column === 'application_id') return one(APPLICATIONS);
  if (column === 'delivery_id') return one(DELIVERIES);
  if (column === 'endpoint_id') return one(ENDPOINTS);
  if (column === 'transaction_id') return one(TRANSACTIONS);
  if (column === 'round') return 0;
  if (column === '' && type === 'bigint') return one([0, 1, 2, 3]);
  if (type === 'bigint') return one([0, 1, 2, 3, 1_700_000_000_000_000]);
  return one(['plain', `"quoted" \\ {a,b} NULL '?'`, '', 'é\u{1f600}\n']);
}

/** The columns of a text's parameters; '' if the column is not visible. */
function columnsOf(text: string): string[] {
  const [whole = '', names] = /^\s*INSERT INTO \w+\s*\(([^)]*)\)\s*VALUES\s*\(/.exec(text) ?? [];
  if (names !== undefined) {
    const columns = names.split(',').map((name) => name.trim());
    const values = outerParts(text.slice(whole.length));
    return values.flatMap((value, index) =>
      /^\s*\?\s*\)?\s*$/.test(value) ? [columns[index] ?? ''] : comparedIn(value),
    );
  }
  return comparedIn(text);
}

/** The parts between those commas of a text that are in no brackets. */
function outerParts(text: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of text) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (character === ',' && depth === 0) parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts;
}

/** The columns that parameters of a text are compared to. */
function comparedIn(text: string): string[] {
  return [...text.matchAll(/(?:(\w+)\s*(?:=|>|<|>=|<=|IN)\s*\(?\s*)?\?/g)].map((found) => found[1] ?? '');
}

async function fill(database: Database): Promise<void> {
  await database.transact(async (unit) => {
    await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'x', 0)");
    for (const id of DEVICES)
      await unit.run(
        "INSERT INTO devices (device_id, developer_id, credential_hash, activation, created_at) VALUES (?, 'dev', ?, 'activated', 0)",
        id,
        Buffer.from([0, 1]),
      );
    for (const _ of TRANSACTIONS)
      await unit.run(
        `INSERT INTO transactions (device_id, application_id, operation, parameters, status, due, attempts, created_at, updated_at, completed_at)
         VALUES (?, ?, 'setApn', '{}', ?, ?, 0, 0, 0, ?)`,
        one(DEVICES),
        one(APPLICATIONS),
        one(['queued', 'delivered', 'cancelled']),
        one([0, 1, 1]),
        one([null, null, 1]),
      );
    for (const [index, id] of DEVICES.entries())
      await unit.run("INSERT INTO device_owners (device_id, node_id, epoch) VALUES (?, 'n1', ?)", id, index);
    for (const id of DEVICES) {
      await unit.run("INSERT INTO device_status (device_id, reported, reported_at) VALUES (?, '{}', 0)", id);
      await unit.run('INSERT INTO sessions (client_id, created_at) VALUES (?, 0)', id);
      await unit.run(
        'INSERT INTO subscriptions (client_id, topic, qos) VALUES (?, ?, 1)',
        id,
        `devices/${id}/commands`,
      );
    }
    for (const id of DEVICES) await unit.run('INSERT INTO device_presence (device_id, last_seen_at) VALUES (?, 2)', id);
    for (const id of DEVICES)
      for (const hour of [0, 1, 2, 3, 1_700_000_000_000_000])
        await unit.run('INSERT INTO device_samples (device_id, hour) VALUES (?, ?)', id, hour);
    for (const event of EVENTS) {
      for (const id of DEVICES)
        await unit.run(
          `INSERT INTO connection_log (device_id, fact_id, kind, at, last_at, count, is_open) VALUES (?, ?, 'connected', 1, 1, 1, 1)`,
          id,
          event,
        );
      for (const id of DEVICES)
        await unit.run('INSERT INTO device_events (device_id, event_id, received_at) VALUES (?, ?, 2)', id, event);
      for (const id of DEVICES)
        await unit.run(
          "INSERT INTO device_requests (device_id, request_id, received_at, type, data) VALUES (?, ?, 2, 't', '{}')",
          id,
          event,
        );
      for (const id of APPLICATIONS)
        await unit.run(
          `INSERT INTO idempotency_keys VALUES (?, ?, ?, '{}', 2)`,
          id,
          Buffer.from(event),
          Buffer.from([0]),
        );
    }
    for (const application of APPLICATIONS)
      for (const id of DEVICES)
        await unit.run('INSERT INTO event_counts (application_id, device_id, last) VALUES (?, ?, 1)', application, id);
    for (const application of APPLICATIONS)
      for (const id of DELIVERIES)
        await unit.run(
          `INSERT INTO delivery_attempts (application_id, delivery_id, round, attempt, at, error, duration)
           VALUES (?, ?, 0, 1, 0, 'e', 0)`,
          application,
          id,
        );
    for (const application of APPLICATIONS)
      for (const id of DELIVERIES)
        await unit.run(
          `INSERT INTO deliveries (application_id, delivery_id, setting, type, body, status, attempts, created_at, updated_at)
           VALUES (?, ?, 'deviceEvent', 't', 'b', ?, 0, 0, 0)`,
          application,
          id,
          one(['pending', 'pending', 'delivered']),
        );
    for (const application of APPLICATIONS)
      for (const endpoint of ENDPOINTS)
        for (const sequence of [1, 2, 3])
          await unit.run(
            `INSERT INTO endpoint_deliveries (application_id, endpoint_id, sequence, event_id, device_id, type, status, attempts,
               round, created_at, updated_at) VALUES (?, ?, ?, 'e', 'd1', 't', ?, 0, 0, 0, 0)`,
            application,
            endpoint,
            sequence,
            one(['pending', 'blocked', 'delivered']),
          );
  });
}

/** The content of the tables, as far as a statement could change it. */
const dump = async (unit: UnitOfWork): Promise<unknown[]> => [
  await unit.all('SELECT * FROM transactions ORDER BY transaction_id'),
  // Their numbers rise in another order: events of one device are not in one set.
  (await unit.all<object>('SELECT * FROM deliveries ORDER BY application_id, delivery_id')).map((row) => ({
    ...row,
    sequence: undefined,
  })),
  await unit.all('SELECT * FROM endpoint_deliveries ORDER BY application_id, endpoint_id, sequence'),
  await unit.all('SELECT * FROM event_counts ORDER BY application_id, device_id'),
  await unit.all('SELECT * FROM devices ORDER BY device_id'),
  await unit.all('SELECT * FROM device_owners ORDER BY device_id'),
  await unit.all('SELECT * FROM device_events ORDER BY device_id, event_id'),
  await unit.all('SELECT * FROM device_presence ORDER BY device_id'),
  await unit.all('SELECT * FROM device_status ORDER BY device_id'),
  await unit.all('SELECT * FROM device_samples ORDER BY device_id, hour'),
  await unit.all('SELECT * FROM connection_log ORDER BY device_id, fact_id'),
  await unit.all('SELECT * FROM device_requests ORDER BY device_id, request_id'),
  await unit.all('SELECT * FROM idempotency_keys ORDER BY application_id, key_hash'),
];

const takenBack = new Error('all of it is taken back');

/** Runs the calls in a unit that is rolled back; returns their results and the content of the tables afterwards. */
async function tryOut(database: Database, work: (unit: UnitOfWork) => Promise<unknown[]>): Promise<unknown> {
  let found: unknown;
  await database
    .transact(
      async (unit) => {
        await unit.get(`SELECT setval(pg_get_serial_sequence('transactions', 'transaction_id'), 1000)`);
        found = { answers: await work(unit), after: await dump(unit) };
        throw takenBack;
      },
      { device: 'd1' },
    )
    .catch((cause: unknown) => {
      if (cause !== takenBack) throw cause;
    });
  return found;
}

const skip = NO_POSTGRES && { skip: NO_POSTGRES };

void t.test('a statement over arrays has the same effect as its single form', { ...skip }, async (t) => {
  const database = await openPostgres({ url: await createDatabase(t), nowMicros: 0 });
  t.teardown(() => database.close());
  await fill(database);
  // The same rows again.
  inSets('UPDATE deliveries SET attempts = attempts + ? WHERE delivery_id = ?', ['bigint', 'text']);
  t.ok(declaredSets().size > 8);
  for (const [text, types] of declaredSets()) {
    await t.test(text, async (t) => {
      const columns = columnsOf(text);
      t.equal(columns.length, types.length, 'a type for each parameter');
      const inserts = text.trim().startsWith('INSERT');
      const values = Array.from({ length: CALLS }, () => {
        // A sub-query of an INSERT asks for the row's own columns.
        const ofRow = new Map<string, SqlValue>();
        return types.map((type, index) => {
          unique += 1;
          const column = columns[index] ?? '';
          const isNew = inserts && ['delivery_id', 'fact_id'].includes(column);
          const value = ofRow.get(column) ?? (isNew ? `new ${unique}` : valueFor(type, column));
          if (inserts && column !== '') ofRow.set(column, value);
          return value;
        });
      });
      const method =
        inserts && text.includes('transactions') ? 'insert' : text.trim().startsWith('SELECT') ? 'all' : 'run';
      const call = (unit: UnitOfWork, some: SqlValue[]): Promise<unknown> => unit[method](text, ...some);
      const single = await tryOut(database, async (unit) => {
        const answers: unknown[] = [];
        for (const some of values) answers.push(await call(unit, some));
        return answers;
      });
      const set = await tryOut(database, (unit) => Promise.all(values.map((some) => call(unit, some))));
      t.strictSame(set, single);
      const { answers } = single as { answers: unknown[] };
      t.ok(
        answers.some((answer) => (Array.isArray(answer) ? answer.length > 0 : answer !== 0)),
        'some of them find something',
      );
      t.ok(setFormOf(text));
    });
  }
});

t.test('a statement that has no set form is refused when it is declared as one', async (t) => {
  for (const text of ['WITH a AS (SELECT 1) SELECT ?', 'INSERT INTO t (a) VALUES (?) ON CONFLICT DO NOTHING'])
    t.throws(() => setFormOf(inSets(text, ['text'])), /none of the forms that sets permit/);
});
