import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { UnitOfWork } from '../../src/platform/database/sql.ts';
import { onBoth, openDatabaseOf } from './kinds.ts';

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";
const all = 'SELECT developer_id AS "id" FROM developers ORDER BY developer_id';

onBoth(t, async (t, kind) => {
  for (const key of ['a device', undefined]) {
    const about = key === undefined ? 'without a key' : 'with a key';

    await t.test(`a unit ${about} that fails while its statements are on their way leaves nothing`, async (t) => {
      const database = await openDatabaseOf(kind, t);
      const results = await Promise.allSettled([
        database.transact((unit) => unit.run(insert, 'before'), { device: key && `${key} 1` }),
        database.transact((unit) => Promise.all([unit.run(insert, 'lost'), Promise.reject(new Error('no'))]), {
          device: key && `${key} 2`,
        }),
        database.transact((unit) => unit.run(insert, 'after'), { device: key && `${key} 3` }),
      ]);
      t.same(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      );
      t.same(await database.read.all(all), [{ id: 'after' }, { id: 'before' }]);
    });

    await t.test(`a statement after the end of a unit ${about} is refused`, async (t) => {
      const database = await openDatabaseOf(kind, t);
      const late: Promise<unknown>[] = [];
      /** Goes on when the unit has failed already. */
      async function goOn(unit: UnitOfWork): Promise<number> {
        await unit.all(all);
        for (let turns = 0; turns < 20; turns += 1) await turn();
        return unit.run(insert, 'late');
      }
      const failing = database.transact(
        (unit) => {
          late.push(goOn(unit));
          late[0]?.catch(() => undefined);
          return Promise.all([late[0], Promise.reject(new Error('no'))]);
        },
        { device: key },
      );
      await t.rejects(failing, /no/);
      await t.rejects(late[0] ?? Promise.resolve(), /the unit of work has ended/);
      t.same(await database.read.all(all), []);
    });
  }
});
