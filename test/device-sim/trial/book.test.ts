import { createBook } from '@lapel/device-sim/trial/book';
import t from 'tap';

const answer = (status: number | null, milliseconds = 5) => ({
  status,
  reason: status === null ? 'no answer within 15 s' : '',
  from: 1000,
  to: 1000 + milliseconds,
  headers: {},
  body: Buffer.alloc(0),
});

t.test('no answer while the simulator itself stood still is not measurable', async (t) => {
  const book = createBook();
  book.record('late', 'msg_1', answer(null, 15_000), 14_000);
  t.match(book.verdicts(), [{ holds: false, measurable: false, shown: '1: no answer' }]);
  book.record('late', 'msg_2', answer(null, 15_000), 0);
  t.match(book.verdicts(), [{ holds: false, measurable: true, shown: '2: no answer' }]);
});

t.test('a wrong status is wrong however slow the simulator was', async (t) => {
  const book = createBook();
  book.record('twice', 'msg_1', answer(500), 4000);
  t.match(book.verdicts(), [{ holds: false, measurable: true, story: [/^msg_1 .*500 after 5 ms; expected 2xx/] }]);
});

t.test('only a 4xx refuses, and only a 2xx accepts', async (t) => {
  for (const status of [200, 204, 302, 500, null]) {
    const book = createBook();
    book.record('forged-signature', 'msg_1', answer(status), 0);
    t.match(book.verdicts(), [{ holds: false, measurable: true }], String(status));
  }
  for (const status of [302, 401, 410, 503]) {
    const book = createBook();
    book.record('large-body', 'msg_1', answer(status), 0);
    t.match(book.verdicts(), [{ holds: false }], String(status));
  }
});
