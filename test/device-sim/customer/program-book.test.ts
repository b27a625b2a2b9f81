import type { CameEvent } from '@lapel/device-sim/customer/came-event';
import { createLedger } from '@lapel/device-sim/customer/create-ledger';
import type { Program } from '@lapel/device-sim/customer/program';
import { createProgramBook } from '@lapel/device-sim/customer/program-book';
import t from 'tap';
import { DEVICE } from './play-ledger.ts';

const BILLING: Program = {
  kind: 'endpoint',
  name: 'billing',
  types: [],
  isOrdered: true,
  ratePerSecond: null,
  signatures: 'v1',
};
const RESULTS: Program = { ...BILLING, name: 'results', types: ['transaction.*'], isOrdered: false };
const READER: Program = { kind: 'consumer', name: 'reader', types: [], page: 10 };

/** An event: the n-th of its device, and (without another number) of the stream. */
const event = (number: number, { type = 'custom.sos', sequence = number, ...more }: Partial<CameEvent> = {}) => ({
  eventId: `msg_${sequence}`,
  type,
  timestamp: '2026-11-20T09:30:00.123456Z',
  data: { deviceId: DEVICE },
  sequence,
  deviceSequence: number,
  ...more,
});

/** The books about some programs, which begin at the start of the stream. */
function startBook(programs: readonly Program[], since = 0) {
  const ledger = createLedger({ began: 0 });
  ledger.enter('day');
  const book = createProgramBook(programs, ledger);
  for (const { name } of programs) book.of(name).begin(since);
  let at = 0;
  const tick = (): number => {
    at += 1;
    return at;
  };
  return {
    ledger,
    book,
    came: (name: string | null, ...events: readonly CameEvent[]): void => {
      for (const one of events) book.came(name, one, tick());
    },
    later(milliseconds: number): void {
      at += milliseconds;
    },
    /** The figures, and the sentences of the troubles, when all has come that comes. */
    end(waits = (_name: string, _sequence: number) => false) {
      const told = '; the service says nothing';
      book.judge(tick(), (name) => ({ includes: (sequence) => waits(name, sequence), told }));
      return { ...ledger.figures(), texts: ledger.troubles().map(({ text }) => text) };
    },
  };
}

t.test('events may come again, and to each program at another time', async (t) => {
  const { came, end, ledger, book } = startBook([BILLING, RESULTS, READER]);
  const [one, two, three] = [event(1), event(2, { type: 'transaction.succeeded' }), event(3)];
  came(null, two, one);
  came('billing', one, one, two, two, three);
  t.strictSame(Object.fromEntries(book.owed()), { results: 1, reader: 3 });
  came('results', two, two);
  came('reader', one, two, three);
  t.equal(book.owed().size, 0);
  t.match(end(), { pushed: 4, pulled: 3, order: 0, gaps: 0, violations: 0, customerLost: 0, texts: [] });
  for (const check of ['endpoint-order', 'endpoint-all', 'stream-order', 'stream-all', 'device-numbers'] as const)
    t.ok(ledger.looks()[check] > 0, check);
});

t.test('an event of a device that comes to an ordered endpoint after a later one is out of order', async (t) => {
  const { came, end, ledger } = startBook([BILLING, { ...RESULTS, types: [] }]);
  came('billing', event(1), event(3), event(2));
  came('results', event(1), event(3), event(2));
  const { texts, ...figures } = end();
  t.match(figures, { order: 1, gaps: 0 });
  t.strictSame(texts, [
    'event 2 (custom.sos, number 2 of its device) came to the ordered endpoint billing after number 3',
  ]);
  const [trouble] = ledger.troubles();
  t.match(trouble, { kind: 'order', deviceId: DEVICE, phase: 'day' });
  t.match(trouble?.story, [/service +sends number 3 of the device to the ordered endpoint billing/, /came to/]);
});

t.test('an event that never comes to a program is missing, in the phase in which it was seen elsewhere', async (t) => {
  const { came, end, ledger } = startBook([BILLING, RESULTS, READER]);
  came(null, event(1, { type: 'transaction.failed' }));
  ledger.enter('night');
  came('reader', event(1, { type: 'transaction.failed' }), event(2));
  const { texts, gaps } = end();
  t.equal(gaps, 3);
  t.match(texts, [
    /^event 1 \(transaction.failed, .*\) never came to the ordered endpoint billing; the service says nothing$/,
    /^event 1 .* the endpoint results/,
    /^event 2 .* the ordered endpoint billing/,
  ]);
  t.equal(ledger.figures('day').gaps, 2);
  t.match(ledger.troubles()[0]?.story, [/sends event 1 \(.*\) to the URL of its setting/, /never came/]);
});

t.test('a number of a device that no program has seen is missing, and counts once', async (t) => {
  const { came, end } = startBook([BILLING, READER]);
  came('billing', event(1), event(3));
  came('reader', event(1), event(3));
  t.match(end(), {
    gaps: 2,
    texts: [/^number 2 of the events of the device never came to the ordered/, /the consumer/],
  });
  const known = startBook([BILLING]);
  known.came(null, event(2));
  known.came('billing', event(1), event(3));
  t.match(known.end(), { gaps: 1, texts: [/^event 2 .* never came/] });
});

t.test('an event that came before a program began, or that waits for its next attempt, is not missing', async (t) => {
  const before = startBook([BILLING], 5);
  before.came(null, event(5), event(6));
  before.came('billing', event(6));
  t.match(before.end(), { gaps: 0 });
  const removed = startBook([BILLING]);
  removed.came(null, event(1), event(2));
  t.match(
    removed.end((name, sequence) => name === 'billing' && sequence === 1),
    { gaps: 1 },
  );
});

t.test('a reader gets no event again, and none before the last one', async (t) => {
  const { came, end } = startBook([READER]);
  came('reader', event(1), event(3), event(3), event(2));
  t.match(end(), {
    order: 3, // the number of the device goes back as well
    texts: [/event 3 .* came to the consumer reader after event 3/, /event 2 .* after event 3/, /after number 3/],
  });
});

t.test('an event of another type, or with another content than before, breaks the contract', async (t) => {
  const { came, end } = startBook([RESULTS]);
  came('results', event(1), event(2, { type: 'transaction.failed' }));
  came('results', event(2, { type: 'transaction.failed', eventId: 'msg_other' }));
  t.match(end(), {
    violations: 2,
    texts: [/the endpoint results got event 1 .*, whose type it has not asked for/, /another id, number or content/],
  });
  const test = startBook([BILLING, READER]);
  test.came(null, event(1, { type: 'test' }));
  t.strictSame(Object.fromEntries(test.book.owed()), { reader: 1 }, 'an endpoint gets them only if it asks for them');
});

t.test('what a program loses by its own fault is no fault of the service', async (t) => {
  const { came, end, book, later } = startBook([BILLING, READER]);
  came('billing', event(1));
  later(2000);
  came('billing', event(2));
  book.of('billing').forget();
  came('billing', event(3));
  came('reader', event(1));
  book.of('reader').passed(1, 2);
  came('reader', event(3));
  const { texts, ...figures } = end();
  t.match(figures, { customerLost: 3, customerAgain: 0, gaps: 0, order: 0 });
  t.match(texts, [
    /^the ordered endpoint billing answered 2 events and lost them in a crash, .* at last event 3 .*; the service has done nothing wrong$/,
    /^the consumer reader moved its place past 1 events without handling them, at first event 2/,
  ]);
});

t.test('a reader that loses its place gets events again, or passes over some, by its own fault', async (t) => {
  const { came, end, book } = startBook([BILLING, READER]);
  came('billing', event(1), event(2), event(3), event(4));
  came('reader', event(1), event(2));
  book.of('reader').placed(0, true, 10);
  came('reader', event(1), event(2));
  book.of('reader').placed(3, true, 11);
  came('reader', event(4));
  t.match(end(), { customerAgain: 2, customerLost: 1, order: 0, gaps: 0 });
  const own = startBook([READER]);
  own.came('reader', event(1), event(2));
  own.book.of('reader').placed(0, false, 10);
  own.came('reader', event(1), event(2), event(3));
  t.match(own.end(), { customerAgain: 0, order: 0, gaps: 0, texts: [] }, 'a restart may repeat what was not stored');
});

t.test('after a restore numbers of devices come again, and what was lost with the backup is not owed', async (t) => {
  const { came, end, book } = startBook([BILLING, READER]);
  came('billing', event(1), event(2), event(3));
  came('reader', event(1));
  book.restored(2); // the second and the third event are gone
  came('billing', event(2, { sequence: 7 }));
  came('reader', event(2, { sequence: 7 }));
  t.match(end(), { order: 0, gaps: 0, violations: 0 });
});
