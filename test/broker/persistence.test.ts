import assert from 'node:assert';
import abstractPersistence from 'aedes-persistence/abstract.js';
import t from 'tap';
import { createSessions } from '../../src/core/sessions/sessions.ts';
import { createPersistence } from '../../src/edge/mqtt/persistence.ts';
import { openSqlite } from '../../src/platform/database/sqlite/open-sqlite.ts';
import { systemClock } from '../../src/runtime/clock.ts';

// Tests that do not apply to a broker whose offline queue is the outbox; see the head of persistence.ts.
const LEFT_OUT =
  /retained|outgoing|outoing|^update to (publish|pubrel)|^store and look up subscriptions by topic|restored but not matched/;

/** The part of node:test that the suite of the library uses. */
function suiteTest(title: string, body: (suite: unknown) => Promise<void>): void {
  if (LEFT_OUT.test(title)) return;
  t.test(title, async (t) => {
    const counted =
      <Args extends unknown[]>(check: (...args: Args) => void) =>
      (...args: Args) => {
        check(...args);
        t.pass(String(args.at(-1)));
      };
    await body({
      plan: (n: number) => t.plan(n),
      diagnostic: (text: string) => t.comment(text),
      assert: {
        ok: counted(assert.ok),
        equal: counted(assert.equal),
        notEqual: counted(assert.notEqual),
        deepEqual: counted(assert.deepEqual),
      },
    });
  });
}

let folders = 0;
abstractPersistence({
  test: suiteTest,
  testAsync: true,
  persistence: async () => {
    folders += 1;
    const folder = t.testdir({ [`n${folders}`]: {} });
    const database = openSqlite({ folder: `${folder}/n${folders}`, nowMicros: 0 });
    const store = createPersistence({
      sessions: createSessions({ database, clock: systemClock }),
      allows: () => true,
    });
    const instance = {
      ...store,
      broker: { id: '' },
      setup: async (broker: { id: string }) => {
        instance.broker = broker;
        await store.setup(broker);
      },
      destroy: () => database.close(),
    };
    return instance;
  },
});

t.test('a filter that the access rules refuse is never stored', async (t) => {
  const database = openSqlite({ folder: t.testdir(), nowMicros: 0 });
  t.teardown(() => database.close());
  const store = createPersistence({
    sessions: createSessions({ database, clock: systemClock }),
    allows: (_client, topic) => topic === 'mine',
  });
  const both = [
    { topic: 'mine', qos: 1 },
    { topic: 'foreign', qos: 1 },
  ];
  await store.addSubscriptions({ id: 'a' }, both);
  t.same(await store.subscriptionsByClient({ id: 'a' }), [{ topic: 'mine', qos: 1 }]);
});
