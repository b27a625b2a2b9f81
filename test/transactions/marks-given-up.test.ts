import t from 'tap';
import { createDeliveryMarks } from '../../src/core/transactions/delivery-marks.ts';
import { createLog } from '../../src/runtime/log.ts';
import { Watch } from '../../src/runtime/watch.ts';
import { withGivenUp } from '../database/given-up.ts';
import { onBoth, openDatabaseOf } from '../database/kinds.ts';
import { createFakeClock } from '../fake-clock.ts';

onBoth(t, async (t, kind) => {
  await t.test('a mark whose unit is rolled back after the wait was given up is written again', async (t) => {
    const { database, rollBack } = withGivenUp(await openDatabaseOf(kind, t), 'along');
    const clock = createFakeClock();
    const stored = Promise.withResolvers<number>();
    const marks = createDeliveryMarks({
      database,
      clock,
      log: createLog({ level: 'silent' }),
      watch: new Watch(),
      endsAt: stored.resolve,
    });
    const by = clock.now() + 60_000_000;
    marks.delivered('490154203237518', 1, 60);
    clock.advance(10);
    marks.delivered('490154203237518', 1, 60); // the command came again
    await t.rejects(marks.flush());
    clock.advance(1_000); // nothing waits to be written now
    await rollBack();
    clock.advance(1_000);
    t.equal(await stored.promise, by, 'the first delivery counts');
    await marks.flush();
  });
});
