import t from 'tap';
import { type Connection, openConnection, SHORT } from '../../../src/platform/database/postgres/connection.ts';
import { ConnectionLost } from '../../../src/platform/database/postgres/trouble.ts';
import { createEmptyDatabase, NO_POSTGRES as skip } from '../../postgres/databases.ts';

type Value = string | number | Buffer | null;

/** Sends statements as one batch; returns the rows, or the error, of each. */
function send(connection: Connection, ...statements: [text: string, ...values: Value[]][]): Promise<unknown[]> {
  const answers = statements.map(() => Promise.withResolvers<unknown>());
  connection.batch(
    statements.map(([text, ...values], index) => ({
      text,
      values,
      answered: (rows, count) => answers[index]?.resolve({ rows, count }),
      failed: (cause) => answers[index]?.resolve(cause),
    })),
  );
  return Promise.all(answers.map(({ promise }) => promise));
}

t.test('statements of a batch are answered in order, the first time and later', { skip }, async (t) => {
  const connection = await openConnection(await createEmptyDatabase(t), SHORT, () => undefined);
  t.teardown(() => connection.end());
  await connection.script('CREATE TABLE things (id BIGINT PRIMARY KEY, name TEXT, content BYTEA)');
  for (const first of [1, 3]) {
    const insert = 'INSERT INTO things VALUES (?, ?, ?)';
    t.same(
      await send(
        connection,
        ['BEGIN'],
        [insert, first, 'a,"\\\'', Buffer.from([0, 255])],
        [insert, first + 1, null, null],
        ['SELECT id, name, content FROM things WHERE id >= ? ORDER BY id', first],
        ['UPDATE things SET name = ? WHERE id >= ? RETURNING id AS changed', 'b', first + 1],
        ['SELECT count(*) AS count FROM things WHERE id < 0'],
        ['DELETE FROM things WHERE id < 0'],
        ['COMMIT'],
      ),
      [
        { rows: [], count: 0 },
        { rows: [], count: 1 },
        { rows: [], count: 1 },
        {
          rows: [
            { id: first, name: 'a,"\\\'', content: Buffer.from([0, 255]) },
            { id: first + 1, name: null, content: null },
          ],
          count: 2,
        },
        { rows: [{ changed: first + 1 }], count: 1 },
        { rows: [{ count: 0 }], count: 1 },
        { rows: [], count: 0 },
        { rows: [], count: 0 },
      ],
    );
  }
  const many = await send(
    connection,
    ...Array.from({ length: 100 }, (_, id): [string, number] => ['SELECT ? + 0 AS id', id]),
  );
  t.same(
    many,
    Array.from({ length: 100 }, (_, id) => ({ rows: [{ id }], count: 1 })),
  );
  t.ok(Number.isFinite(connection.roundTripMs()));
});

t.test('after an error the rest of a batch is skipped, and later batches are answered', { skip }, async (t) => {
  const connection = await openConnection(await createEmptyDatabase(t), SHORT, () => undefined);
  t.teardown(() => connection.end());
  await connection.script('CREATE TABLE things (id BIGINT PRIMARY KEY)');
  const insert = 'INSERT INTO things VALUES (?)';
  for (const faulty of [insert, 'INSERT INTO nothing VALUES (?)', insert]) {
    const answers = await send(
      connection,
      ['BEGIN'],
      [insert, 1],
      [faulty, 1],
      ['SELECT 2 AS two'],
      ['SELECT 3 AS three'],
    );
    t.match(answers.slice(0, 3), [{ count: 0 }, { count: 1 }, { code: faulty === insert ? '23505' : '42P01' }]);
    t.match(answers.slice(3), [{ message: /earlier/ }, { message: /earlier/ }]);
    t.match(await connection.query('ROLLBACK'), { command: 'ROLLBACK' });
  }
  t.same(await send(connection, ['SELECT 2 AS two'], [insert, 1], ['SELECT 3 AS three']), [
    { rows: [{ two: 2 }], count: 1 },
    { rows: [], count: 1 },
    { rows: [{ three: 3 }], count: 1 },
  ]);
});

t.test('batches of a lost connection are rejected', { skip }, async (t) => {
  const connection = await openConnection(await createEmptyDatabase(t), SHORT, () => undefined);
  const running = send(connection, ['SELECT pg_sleep(3)'], ['SELECT 2 AS two']);
  connection.destroy(new Error('cut'));
  for (const answers of [await running, await send(connection, ['SELECT 2 AS two'])])
    for (const answer of answers) t.type(answer, ConnectionLost);
});

t.test('an array brings every text to the server as it is, but for U+0000', { skip }, async (t) => {
  const connection = await openConnection(await createEmptyDatabase(t), SHORT, () => undefined);
  t.teardown(() => connection.end());
  const parts = ['', '"', '\\', '\n', '\t', '\u0001', '\u007f', "'", ',', '{', '}', 'NULL', 'n', ' ', 'é', '\u{1f600}'];
  const texts = parts.flatMap((one) => parts.flatMap((two) => parts.map((three) => one + two + three)));
  const { rows } = await connection.query(
    'SELECT item FROM unnest(?::text[]) WITH ORDINALITY AS given (item, number) ORDER BY number',
    [...texts, null, 'a"\0'],
  );
  t.same(
    rows.map(({ item }) => item),
    [...texts, null, 'a"\u{FFFD}'],
  );
});
