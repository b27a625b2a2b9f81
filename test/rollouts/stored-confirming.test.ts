import t from 'tap';
import { createConfirming } from '../../src/core/rollouts/confirming.ts';
import { createLog } from '../../src/runtime/log.ts';
import { openTestDatabase } from '../applications/tenant.ts';
import { storeRollout } from './stored-rollout.ts';

const SECOND = 1_000_000;
const log = createLog({ level: 'silent' });

t.test('a device that has another command of the rollout by now is not judged by the former one', async (t) => {
  for (const [isAnother, judged] of [
    [false, ['cancelled']],
    [true, []],
  ] as const) {
    const { database, clock } = openTestDatabase(t);
    await storeRollout(database, 'rol_1', { deviceIds: ['d'], plan: { confirm: { seenAgainWithin: 60 } } });
    const write = (text: string): Promise<void> => database.transact(async (unit) => void (await unit.run(text)));
    await write("UPDATE rollout_members SET state = 'confirming', transaction_id = 1");
    const results: string[] = [];
    const { look } = createConfirming({
      database: {
        ...database,
        aside: {
          ...database.aside,
          async all<Row>(...asked: Parameters<typeof database.aside.all>) {
            const rows = await database.aside.all<Row>(...asked);
            // The device is not the application's any more, which is found after the members were read.
            if (isAnother && asked[0].includes('activation'))
              await write('UPDATE rollout_members SET transaction_id = 2');
            return rows;
          },
        },
      },
      log,
      presence: { newerThanStored: () => undefined },
      confirm: async (_unit, _rollout, _member, { status }) => void results.push(status),
    });
    t.equal(await look(clock.now(), 0, () => undefined), 1);
    t.same(results, judged);
  }
});

t.test('a device is not silent if it was heard of while it was judged', async (t) => {
  for (const [isHeard, judged] of [
    [false, ['SILENT']],
    [true, []],
  ] as const) {
    const { database } = openTestDatabase(t);
    await storeRollout(database, 'rol_1', { deviceIds: ['d'], plan: { confirm: { seenAgainWithin: 60 } } });
    await database.transact(async (unit) => {
      await unit.run("INSERT INTO developers (developer_id, name, created_at) VALUES ('dev', 'dev', 0)");
      await unit.run(
        `INSERT INTO applications (application_id, developer_id, name, secret_hash, created_at)
         VALUES ('app', 'dev', 'app', x'00', 0)`,
      );
      await unit.run(
        `INSERT INTO devices (device_id, developer_id, credential_hash, activation, application_id, created_at)
         VALUES ('d', 'dev', x'00', 'activated', 'app', 0)`,
      );
      await unit.run("UPDATE rollout_members SET state = 'confirming', transaction_id = 1, updated_at = 0");
    });
    // Its time is in the memory of the node when the result is written, and was not when it was judged.
    const heard = [undefined, isHeard ? 31 * SECOND : undefined];
    const results: (string | null)[] = [];
    const { look } = createConfirming({
      database,
      log,
      presence: { newerThanStored: () => heard.shift() },
      confirm: async (_unit, _rollout, _member, { errorCode }) => void results.push(errorCode),
    });
    await look(3_600 * SECOND, 0, () => undefined);
    t.same(results, judged);
  }
});
