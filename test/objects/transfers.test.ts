import t from 'tap';
import { createTransfers } from '../../src/platform/objects/transfers.ts';
import { createFakeClock } from '../fake-clock.ts';

function setUp({ total = 4, perKey = 2 } = {}) {
  const clock = createFakeClock();
  const refused: string[] = [];
  const transfers = createTransfers({ clock, limits: { total, perKey }, refused: (why) => refused.push(why) });
  const cut: string[] = [];
  const admit = (owner: string, key: string) => transfers.admit(owner, key, () => cut.push(`${owner} ${key}`));
  return { clock, refused, cut, admit };
}

void t.test('a single owner may have every place, and loses the slowest to a newcomer', async (t) => {
  const { admit, cut, refused, clock } = setUp();
  const [a, b, c] = ['1', '2', '3', '4'].map((key) => admit('first', key));
  clock.advance(1000);
  for (const transfer of [a, c]) transfer?.moved(5000);
  b?.moved(100);
  admit('second', '1');
  t.same(cut, ['first 4'], 'the one that moved nothing');
  admit('second', '2');
  t.same(cut, ['first 4', 'first 2']);
  t.throws(() => admit('second', '3'), { message: 'Please reduce your request rate.' }, 'both have two now');
  t.throws(() => admit('first', '5'), { message: 'Please reduce your request rate.' });
  admit('third', '1');
  t.equal(cut.length, 3, 'who has nothing gets a place');
  t.throws(() => admit('third', '2'));
  t.same(refused, ['share', 'share', 'total', 'total', 'share', 'total']);
  a?.end();
});

void t.test('a third upload of one object takes the place of the slowest of the two', async (t) => {
  const { admit, cut, refused } = setUp();
  const first = admit('first', '1');
  admit('first', '1');
  first.moved(10);
  admit('first', '1');
  t.same([cut, refused], [['first 1'], ['key']]);
});

void t.test('a transfer below a kibibyte a second is cut, however long it has lasted', async (t) => {
  const { admit, cut, refused, clock } = setUp();
  const steady = admit('first', 'steady');
  const slow = admit('first', 'slow');
  for (let minute = 0; minute < 10; minute += 1) {
    steady.moved(61 * 1024);
    if (minute < 4) slow.moved(61 * 1024);
    clock.advance(60_000);
  }
  t.same([cut, refused], [['first slow'], ['slow']]);
  steady.end();
  t.equal(clock.timers(), 0, 'nothing is looked at when nothing runs');
});
