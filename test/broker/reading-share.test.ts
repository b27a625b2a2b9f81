import { setImmediate as nextTurn } from 'node:timers/promises';
import t from 'tap';
import { createReadingShare } from '../../src/edge/mqtt/reading-share.ts';

/** A share whose time the test moves, and connections with packets to handle. */
function createWorld() {
  let time = 0;
  const share = createReadingShare({ now: () => time, used: () => time });
  const order: string[] = [];
  const work = (milliseconds: number, developerId = 'dev'): void => {
    share.begins(developerId);
    time += milliseconds;
  };
  /** A connection of a device with so many runs to handle, each of so many bytes, which takes so long. */
  function connection(developerId: string, deviceId: string, runs: number, milliseconds = 20, bytes = 100): void {
    const resume = (): void => {
      order.push(deviceId);
      work(milliseconds, developerId);
      runs -= 1;
      if (runs > 0) share.wait(resume, { developerId, deviceId }, bytes);
    };
    share.wait(resume, { developerId, deviceId }, bytes);
  }
  async function turns(count: number): Promise<void> {
    for (let index = 0; index < count; index += 1) await nextTurn();
  }
  return { share, order, work, connection, turns };
}

t.test('packets beyond one turn are handled in the next turns, one for each developer', async (t) => {
  const { share, order, work, connection, turns } = createWorld();
  t.ok(share.free());
  work(100);
  t.notOk(share.free(), 'nothing more in this turn');
  for (let index = 0; index < 30; index += 1) connection('many', `many ${index}`, 3);
  connection('few', 'few', 3);
  await turns(8);
  t.same(
    order.slice(0, 6).filter((device) => device === 'few'),
    ['few', 'few', 'few'],
    'who has one connection has as many turns as who has thirty',
  );
  await turns(120);
  t.equal(order.length, 93);
  t.ok(share.free(), 'then packets are handed on at once again');
});

t.test('cheap packets are handled in the same turn', async (t) => {
  const { order, connection, turns } = createWorld();
  for (let index = 0; index < 10; index += 1) connection('dev', `device ${index}`, 1, 0.1);
  await turns(1);
  t.equal(order.length, 10);
});

t.test('while only one developer sends, turns are longer', async (t) => {
  const { order, work, connection, turns } = createWorld();
  for (let index = 0; index < 40; index += 1) connection('dev', `device ${index}`, 1, 1);
  await turns(1);
  t.equal(order.length, 5);
  work(2, 'another');
  await turns(1);
  t.equal(order.length, 6);
  work(1_000, 'dev');
  await turns(1);
  const before = order.length;
  await turns(1);
  t.equal(order.length - before, 5);
});

t.test('a short message waits behind no more than one large one of its developer', async (t) => {
  const { order, connection, turns } = createWorld();
  for (let index = 0; index < 5; index += 1) connection('dev', `large ${index}`, 4, 20, 100_000);
  connection('dev', 'short', 3, 20);
  await turns(40);
  t.equal(order.filter((device) => device === 'short').length, 3);
  t.ok(order.lastIndexOf('short') < 9, 'it has gone three times before any of these goes again');
});
