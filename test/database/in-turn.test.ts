import t from 'tap';
import { inTurn } from '../../src/platform/database/in-turn.ts';
import { createAsking } from '../../src/runtime/current-caller.ts';
import { openTestDatabase } from '../applications/tenant.ts';

const COUNT = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
  SELECT count(*) AS counted FROM numbers`;

t.test('a caller with many queries lets others query between any two of them', async (t) => {
  const { database } = openTestDatabase(t);
  const many = inTurn(database.aside);
  const answered: string[] = [];
  const asked = ['first', 'second', 'third'].map(async (name) => {
    await many.get(COUNT, 10_000);
    answered.push(name);
  });
  await Promise.resolve(); // the first is in progress
  await database.aside.get(COUNT, 10_000);
  answered.push('another');
  await Promise.all(asked);
  t.same(answered, ['first', 'another', 'second', 'third']);
});

t.test('a failed query delays no other', async (t) => {
  const { database } = openTestDatabase(t);
  const sql = inTurn(database.aside);
  const [wrong, right] = await Promise.allSettled([sql.all('SELECT missing FROM devices'), sql.get(COUNT, 5)]);
  t.match(wrong, { status: 'rejected', reason: { message: /no such column/ } });
  t.match(right, { status: 'fulfilled', value: { counted: 5 } });
  await t.rejects(sql.run('DELETE FROM devices'), /only reads/);
});

t.test(
  'a caller with few queries waits for one query of another developer, however many applications that one has',
  async (t) => {
    const { database } = openTestDatabase(t);
    const asking = createAsking();
    const sql = inTurn(database.aside, asking.whose);
    const answered: string[] = [];
    /** Lists with so many queries, one after another, in the name of an application. */
    const list = (developerId: string, applicationId: string, questions: number): Promise<void> =>
      asking.run(developerId, applicationId, async () => {
        for (let question = 0; question < questions; question += 1) {
          await sql.get(COUNT, 1_000);
          answered.push(developerId);
        }
      });
    const many = Array.from({ length: 16 }, (_, index) => list('many', `many ${index % 8}`, 5));
    await Promise.resolve(); // the first is in progress
    await list('few', 'few', 4);
    t.ok(answered.length <= 9, `${answered.length} questions were answered until its four were`);
    await Promise.all(many);
    t.equal(answered.length, 84);
  },
);
