import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { UnitOfWork } from '../../src/platform/database/sql.ts';
import { onBoth, openDatabaseOf } from './kinds.ts';

const insert = "INSERT INTO developers (developer_id, name, created_at) VALUES (?, 'x', 0)";
const count = 'SELECT count(*) AS "n" FROM developers';
const all = 'SELECT developer_id AS "id" FROM developers ORDER BY developer_id';

// Each unit has the key of another device, so that they share a commit on a server, too.
onBoth(t, async (t, kind) => {
  await t.test('units of work that arrive together share one commit', async (t) => {
    const commits: number[] = [];
    const database = await openDatabaseOf(kind, t, { onCommit: (c) => commits.push(c.committed) });
    await Promise.all(['a', 'b', 'c'].map((id) => database.transact((unit) => unit.run(insert, id), { device: id })));
    t.same(commits, [3]);
  });

  await t.test('one failing writer rolls back alone, whether it names a device or not', async (t) => {
    const database = await openDatabaseOf(kind, t);
    for (const key of ['d', undefined]) {
      const name = (id: string): string => `${key} ${id}`;
      const keyOf = (id: string): string | undefined => key && name(id);
      const results = await Promise.allSettled([
        database.transact((unit) => unit.run(insert, name('first')), { device: keyOf('first') }),
        database.transact(
          async (unit) => {
            await unit.run(insert, name('lost'));
            throw new Error('no');
          },
          { device: keyOf('lost') },
        ),
        database.transact((unit) => unit.run(insert, name('first')), { device: keyOf('double') }),
        database.transact((unit) => unit.run(insert, name('last')), { device: keyOf('last') }),
      ]);
      t.same(
        results.map((r) => r.status),
        ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
      );
    }
    t.same(
      (await database.read.all<{ id: string }>(all)).map(({ id }) => id),
      ['d first', 'd last', 'undefined first', 'undefined last'],
    );
  });

  await t.test('no caller is answered before the commit, and effects come before any answer, in order', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const seen: string[] = [];
    const unit = (id: string) =>
      database
        .transact(
          async (unit) => {
            unit.onCommit(() => seen.push(`effect ${id}`));
            await unit.run(insert, id);
            t.same(await database.read.get(count), { n: 0 }, 'another connection sees what is committed');
          },
          { device: id },
        )
        .then(async () => {
          seen.push(`answered ${id}`);
          t.same(await database.read.get(count), { n: 2 });
        });
    await Promise.all([unit('a'), unit('b')]);
    t.same(seen, ['effect a', 'effect b', 'answered a', 'answered b']);
  });

  await t.test(
    'the changes of a failed unit in memory are undone before the next unit of its device runs',
    async (t) => {
      const database = await openDatabaseOf(kind, t);
      let slots = 0;
      const failing = database.transact(
        async (unit) => {
          slots += 1;
          unit.onRollback(() => {
            slots -= 1;
          });
          throw new Error('no');
        },
        { device: 'd' },
      );
      const next = database.transact(async () => slots, { device: 'd' });
      await t.rejects(failing, /no/);
      t.equal(await next, 0);
    },
  );

  await t.test('units of one device run one after another, in the order of their arrival', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const seen: string[] = [];
    const unit = (id: string, device: string) =>
      database.transact(
        async (unit) => {
          seen.push(`${id} begins`);
          await unit.get(count);
          await unit.run(insert, id);
          seen.push(`${id} ends`);
        },
        { device },
      );
    await Promise.all([unit('a1', 'a'), unit('b1', 'b'), unit('a2', 'a'), unit('b2', 'b'), unit('a3', 'a')]);
    const of = (device: string): string[] => seen.filter((one) => one.startsWith(device));
    t.same(of('a'), ['a1 begins', 'a1 ends', 'a2 begins', 'a2 ends', 'a3 begins', 'a3 ends']);
    t.same(of('b'), ['b1 begins', 'b1 ends', 'b2 begins', 'b2 ends']);
  });

  await t.test('a unit after close is refused; one before is finished', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const last = database.transact((unit) => unit.run(insert, 'last'));
    const closed = database.close();
    t.equal(await last, 1);
    await t.rejects(
      database.transact((unit) => unit.run(insert, 'late')),
      /closed/,
    );
    await closed;
  });

  await t.test('the reading connections cannot write', async (t) => {
    const database = await openDatabaseOf(kind, t);
    for (const sql of [database.read, database.aside]) {
      await t.rejects(sql.run(insert, 'x'), /only/);
      await t.rejects(sql.get(`${insert} RETURNING name`, 'x'), /only/);
      t.same(await sql.get(count), { n: 0 });
    }
  });

  await t.test('work without a caller joins the commit of a unit with a caller', async (t) => {
    const commits: number[] = [];
    const database = await openDatabaseOf(kind, t, { onCommit: (c) => commits.push(c.committed) });
    const late = database.transact((unit) => unit.run(insert, 'late'), { pace: 'along' });
    await database.transact((unit) => unit.run(insert, 'urgent'), { device: 'd' });
    await late;
    t.same(commits, [2]);
    await database.transact((unit) => unit.run(insert, 'alone'), { pace: 'along' });
    t.same(commits, [2, 1], 'and gets one of its own when nobody comes');
    const waiting = database.transact((unit) => unit.run(insert, 'flushed'), { pace: 'along' });
    await database.idle();
    t.same(commits, [2, 1, 1], 'idle() leaves nothing waiting');
    await waiting;
  });

  await t.test('more units than one commit holds are all committed', async (t) => {
    const commits: number[] = [];
    const database = await openDatabaseOf(kind, t, { onCommit: (c) => commits.push(c.committed) });
    const ids = Array.from({ length: 600 }, (_, index) => `d${index}`);
    await Promise.all(ids.map((id) => database.transact((unit) => unit.run(insert, id), { device: id })));
    t.equal(
      commits.reduce((sum, committed) => sum + committed, 0),
      600,
    );
    t.ok(commits.length > 2 && Math.max(...commits) <= 256);
  });

  await t.test('units of one developer’s many devices delay another’s for at most one commit', async (t) => {
    let commits = 0;
    const onCommit = (): void => {
      commits += 1;
    };
    const ownerOf = (key: string): string => (key.startsWith('many') ? 'many' : 'few');
    const database = await openDatabaseOf(kind, t, { onCommit, ownerOf });
    const committedAt: [key: string, commit: number][] = [];
    const write = (key: string): Promise<unknown> =>
      database.transact(
        async (unit) => {
          unit.onCommit(() => committedAt.push([key, commits]));
          await unit.run(insert, key);
        },
        { device: key },
      );
    // The shortest round trip says whether the database is far away: then commits run side by side, and are not counted here.
    for (let index = 0; index < 30; index += 1) await write(`near ${index}`);
    committedAt.length = 0;
    const flood = Array.from({ length: 900 }, (_, index) => write(`many ${index}`));
    await flood[0];
    t.ok(committedAt.length < 900, 'it is more than one commit takes');
    const before = commits;
    await Promise.all([write('few 1'), write('few 2'), ...flood]);
    const few = committedAt.filter(([key]) => key.startsWith('few'));
    t.ok(
      few.every(([, commit]) => commit <= before + 1),
      `${few.map(([, commit]) => commit - before).join(', ')} commits later, of ${commits}`,
    );
    t.equal(committedAt.length, 902);
  });

  await t.test('units alone of one developer’s many devices, or of one caller, let others in between', async (t) => {
    const database = await openDatabaseOf(kind, t, { ownerOf: (key) => key.slice(0, 4) });
    // In the order in which they begin: the commit of one that began early may take longer than all others.
    let order: string[] = [];
    const write = (name: string, about?: string, whose?: string): Promise<unknown> =>
      database.transact(
        async (unit) => {
          if (!order.includes(name)) order.push(name);
          await unit.run(insert, name);
        },
        { about, whose },
      );
    const ofDevice = (name: string) => write(name, name);
    const ofCaller = (name: string) => write(`${name} of a caller`, undefined, name.slice(0, 4));
    // A unit whose connection to a server is only being opened begins later than units that came after it.
    await Promise.all(Array.from({ length: 100 }, (_, index) => ofDevice(`warm ${index}`)));
    for (const one of [ofDevice, ofCaller]) {
      order = [];
      const flood = Array.from({ length: 300 }, (_, index) => one(`many ${index}`));
      await Promise.all([...flood, one('few 1'), one('few 2')]);
      t.equal(order.length, 302);
      const last = order.findLastIndex((name) => name.startsWith('few'));
      t.ok(last < 150, `${order[last]} is number ${last}`);
    }
  });

  await t.test('units of one device are committed in their order, however many there are', async (t) => {
    const database = await openDatabaseOf(kind, t, { ownerOf: (key) => key.slice(0, 1) });
    const order = new Map<string, number[]>();
    const keys = ['a 1', 'a 2', 'b 1'];
    await Promise.all(
      Array.from({ length: 900 }, (_, index) => {
        const key = keys[index % keys.length] as string;
        return database.transact(
          async (unit) => {
            await unit.run(insert, `unit ${index}`);
            unit.onCommit(() => order.set(key, [...(order.get(key) ?? []), index]));
          },
          { device: key },
        );
      }),
    );
    for (const key of keys)
      t.same(
        order.get(key),
        order.get(key)?.toSorted((a, b) => a - b),
      );
  });

  await t.test(
    'a unit that fails after a change affects no other: the effects of the others happen once',
    async (t) => {
      const database = await openDatabaseOf(kind, t);
      let slots = 0;
      const effects: string[] = [];
      const takeSlot = (id: string) => async (unit: UnitOfWork) => {
        slots += 1;
        unit.onRollback(() => {
          slots -= 1;
        });
        unit.onCommit(() => effects.push(id));
        await unit.run(insert, id);
      };
      const results = await Promise.allSettled([
        database.transact(takeSlot('a'), { device: 'a' }),
        database.transact(
          async (unit) => {
            await takeSlot('b')(unit);
            throw new Error('late');
          },
          { device: 'b' },
        ),
        database.transact(takeSlot('c'), { device: 'c' }),
        database.transact(
          async (unit) => {
            await unit.get(count);
            throw new Error('early');
          },
          { device: 'd' },
        ),
      ]);
      t.match(results, [
        { status: 'fulfilled' },
        { reason: { message: 'late' } },
        { status: 'fulfilled' },
        { reason: { message: 'early' } },
      ]);
      t.strictSame(effects, ['a', 'c']);
      t.equal(slots, 2);
      t.same(await database.read.all(all), [{ id: 'a' }, { id: 'c' }]);
    },
  );

  await t.test('a change by a statement that returns rows is rolled back as well', async (t) => {
    const database = await openDatabaseOf(kind, t);
    for (const method of ['get', 'all'] as const) {
      for (const key of ['d', undefined]) {
        const failing = database.transact(
          async (unit) => {
            await unit[method](`${insert} RETURNING developer_id`, method);
            throw new Error('late');
          },
          { device: key },
        );
        await t.rejects(failing, /late/);
        t.same(await database.read.get(count), { n: 0 });
      }
    }
  });

  await t.test('crowds of units share commits, each of a bounded size', async (t) => {
    const commits: number[] = [];
    const database = await openDatabaseOf(kind, t, { onCommit: (c) => commits.push(c.committed) });
    await database.transact((unit) => unit.run(insert, 'alone'), { device: 'alone', pace: 'crowd' });
    t.same(commits, [1]);
    const crowd: Promise<unknown>[] = [];
    for (let n = 0; n < 300; n += 1) {
      crowd.push(database.transact((unit) => unit.run(insert, `d${n}`), { device: `d${n}`, pace: 'crowd' }));
      await turn(); // each arrives in a separate turn of the event loop
    }
    await Promise.all(crowd);
    t.equal(
      commits.reduce((sum, count) => sum + count, 0),
      301,
    );
    t.ok(commits.length < 150, `${commits.length} commits`);
  });

  await t.test('a value comes back unchanged: numbers, text, bytes, null', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const hash = Buffer.from([0, 1, 0x5c, 0x27, 0xff]);
    const texts = ['', `'"\\\n{},NULL`, '\u{1f600} é', 'a'.repeat(100_000)];
    await database.transact((unit) => unit.run(insert, 'dev'));
    for (const [index, text] of texts.entries()) {
      await database.transact((unit) =>
        unit.run(
          `INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at) VALUES (?, 'dev', ?, ?, ?)`,
          `k${index}`,
          text,
          hash,
          Number.MAX_SAFE_INTEGER - index,
        ),
      );
    }
    const rows = await database.read.all<{ name: string; hash: Buffer; at: number; event: null }>(
      'SELECT name, secret_hash AS hash, created_at AS at, device_event AS event FROM applications ORDER BY application_id',
    );
    t.strictSame(
      rows.map(({ name, hash: bytes, at, event }) => [name, bytes.equals(hash), at, event]),
      texts.map((text, index) => [text, true, Number.MAX_SAFE_INTEGER - index, null]),
    );
    t.strictSame(await database.read.get('SELECT count(*) AS n, SUM(created_at - created_at) AS s FROM applications'), {
      n: 4,
      s: 0,
    });
  });

  await t.test('text is ordered by its bytes', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const ids = ['a', 'B', 'ä', 'Z', 'z', '_', '10', '9', 'a-b', 'ab', 'a b'];
    for (const id of ids) await database.transact((unit) => unit.run(insert, id), { device: id });
    const found = (await database.read.all<{ id: string }>(all)).map(({ id }) => id);
    t.same(
      found,
      ids.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    const behind = all.replace('ORDER', 'WHERE developer_id > ? ORDER');
    t.same(await database.read.all(behind, 'ab'), [{ id: 'z' }, { id: 'ä' }]);
  });

  if (kind === 'sqlite') return; // it runs units one after another

  await t.test('one device with many units delays no other', async (t) => {
    const database = await openDatabaseOf(kind, t);
    let done = 0;
    const many = Array.from({ length: 300 }, (_, index) =>
      database
        .transact((unit) => unit.run(insert, `many ${index}`), { device: 'many' })
        .then(() => {
          done += 1;
        }),
    );
    await database.transact((unit) => unit.run(insert, 'one'), { device: 'one' });
    t.ok(done < 10, `${done} of the others came before it`);
    await Promise.all(many);
    const rows = await database.read.all<{ id: string }>(all);
    t.equal(rows.length, 301);
  });

  await t.test('on a server, work without a caller delays no caller', async (t) => {
    const database = await openDatabaseOf(kind, t);
    const begun = Promise.withResolvers<void>();
    const waited = Promise.withResolvers<void>();
    const late = database.transact(
      async (unit) => {
        await unit.run(insert, 'late');
        begun.resolve();
        await waited.promise; // as long as many rows take
      },
      { pace: 'soon' },
    );
    await begun.promise;
    await database.transact((unit) => unit.run(insert, 'urgent'), { device: 'd' });
    await database.transact((unit) => unit.run(insert, 'urgent, too'));
    t.same(await database.read.get(count), { n: 2 });
    waited.resolve();
    await late;
    t.same(await database.read.get(count), { n: 3 });
  });
});
