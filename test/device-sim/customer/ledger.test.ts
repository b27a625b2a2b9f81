import { LapelError } from '@lapel/client/lapel-error';
import { createLedger } from '@lapel/device-sim/customer/create-ledger';
import { createRequests } from '@lapel/device-sim/customer/requests';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';
import { DEVICE, startLedger } from './play-ledger.ts';

t.test('an event in which the service reported a fault may arrive, but need not', async (t) => {
  const { ledger, tell, event, now } = startLedger();
  const complaint = { topic: 'events', reason: 'device is not activated.', details: null };
  const complain = (eventId: string): void => ledger.complained(DEVICE, { ...complaint, eventId }, now());
  tell('a');
  complain('a');
  complain('b');
  tell('b');
  tell('c');
  t.strictSame(
    ledger.owedEvents().map(({ eventId }) => eventId),
    ['c'],
  );
  event('b', 'msg_1');
  t.match(ledger.figures(), { eventsReceived: 1, eventsDoubled: 0 });
});

t.test('a transaction passes its stages, and is counted in its phase', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  for (const transactionId of [1, 2, 3]) accept(transactionId, transactionId === 3 ? 'night' : 'day');
  for (const transactionId of [1, 2, 3]) deliver(transactionId);
  answer(1);
  result(1);
  answer(2);
  t.strictSame(ledger.unfinishedOf(DEVICE), [2, 3]);
  result(2, { status: 'failed' });
  t.match(ledger.figures('day'), {
    accepted: 2,
    delivered: 2,
    succeeded: 1,
    failed: 1,
    failures: { INTERNAL: 1 },
    unfinished: 0,
  });
  t.match(ledger.figures('night'), { accepted: 1, delivered: 1, unfinished: 1 });
  t.match(ledger.figures(), { accepted: 3, unfinished: 1, lost: 0, doubled: 0, late: 0, unordered: 0, unasked: 0 });
  t.equal(ledger.figures().latency.settled.count, 2);
  t.strictSame(ledger.actionOf(3), { number: 3, phase: 'night' });
  t.equal(ledger.outcomeOf(2), 'failed');
  t.strictSame(ledger.troubles(), []);
  t.end();
});

t.test('a command and a result may arrive before the answer to the request', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  deliver(1);
  answer(1);
  result(1);
  result(7);
  t.match(ledger.figures(), { accepted: 0, unasked: 2 });
  accept(1);
  t.match(ledger.figures(), { accepted: 1, delivered: 1, succeeded: 1, unfinished: 0, unasked: 1 });
  t.end();
});

t.test('a second result is a doubled transaction; the same webhook again is not', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  accept(1);
  deliver(1);
  answer(1);
  result(1);
  result(1);
  t.match(ledger.figures(), { doubled: 0, resent: 1, succeeded: 1 });
  result(1, { webhookId: 'another' });
  result(1, { webhookId: 'a third' });
  t.match(ledger.figures(), { doubled: 1, succeeded: 1 }, 'a transaction is doubled once');
  accept(2);
  result(2);
  result(2, { more: 'other words' });
  t.match(ledger.figures(), { doubled: 2 });
  t.match(
    ledger.troubles().map(({ kind, text, deviceId }) => ({ kind, text, deviceId })),
    [
      { kind: 'doubled', text: /^transaction 1 has a second result: succeeded, webhook another/, deviceId: DEVICE },
      {
        kind: 'doubled',
        text: /^one webhook-id of transaction 2 has two bodies/,
        deviceId: DEVICE,
      },
    ],
  );
  t.match(ledger.troubles()[0]?.story.at(-1), /! +transaction 1 has a second result/);
  t.end();
});

t.test('a second result is noticed even if the first one is long ago', (t) => {
  const { ledger, accept, result } = startLedger();
  for (let transactionId = 1; transactionId <= 25_000; transactionId += 1) {
    accept(transactionId);
    result(transactionId);
  }
  t.equal(ledger.outcomeOf(1), undefined, 'it is not remembered with its times');
  result(1);
  t.match(ledger.figures(), { doubled: 0, resent: 1 });
  result(2, { webhookId: 'another' });
  t.match(ledger.figures(), { doubled: 1, resent: 1, accepted: 25_000 });
  t.end();
});

t.test(
  'a command that is repeated on a later connection than its acknowledgement is doubled; on the same one it is allowed',
  (t) => {
    const { ledger, accept, deliver, answer, now } = startLedger();
    accept(1);
    deliver(1);
    deliver(1, 2);
    answer(1);
    deliver(1, 3);
    t.match(ledger.figures(), { doubled: 0, delivered: 1 }, 'it was on its way');
    ledger.connected(DEVICE, now());
    deliver(1, 3);
    t.match(ledger.figures(), { doubled: 0, delivered: 1 }, 'MQTT may repeat the same delivery');
    deliver(1, 4);
    t.match(ledger.figures(), { doubled: 1, delivered: 1 });
    t.match(ledger.troubles()[0]?.text, /^command 1 came again, attempt 4, after its answer was acknowledged/);
    t.end();
  },
);

t.test('a transaction whose cancel was answered 204 may only end as cancelled', (t) => {
  const { ledger, accept, result, now } = startLedger();
  for (const transactionId of [1, 2, 3]) accept(transactionId);
  ledger.cancelled(1, now());
  result(1, { status: 'cancelled' });
  t.equal(ledger.figures().wrong, 0);
  result(2, { status: 'cancelled' });
  ledger.cancelled(2, now());
  t.equal(ledger.figures().wrong, 0, 'the webhook may come before the 204');
  result(3);
  ledger.cancelled(3, now());
  t.equal(ledger.figures().wrong, 1);
  const text = 'the webhook of transaction 3 has the wrong status: "succeeded" instead of "cancelled"';
  t.match(ledger.troubles(), [{ kind: 'wrong', deviceId: DEVICE, text }]);
  t.match(ledger.troubles()[0]?.story.join('\n'), /customer +cancels transaction 3: 204/);
  t.end();
});

t.test('a cancelled command must not come on a connection that began a second after its webhook', (t) => {
  const { ledger, accept, deliver, result, pass, now } = startLedger();
  ledger.connected(DEVICE, now());
  for (const transactionId of [1, 2, 3]) {
    accept(transactionId);
    result(transactionId, { status: 'cancelled' });
  }
  deliver(1);
  pass(900);
  ledger.connected(DEVICE, now());
  deliver(2);
  t.equal(ledger.figures().violations, 0, 'it was on its way');
  pass(200);
  ledger.connected(DEVICE, now());
  deliver(3);
  t.equal(ledger.figures().violations, 1);
  const text = 'command 3 came on a later connection, although it was cancelled';
  t.match(ledger.troubles(), [{ kind: 'violation', deviceId: DEVICE, text }]);
  t.end();
});

t.test('a webhook that is not genuine is told with the device that it names, if that is a device of the run', (t) => {
  const { ledger, accept, now } = startLedger();
  accept(1);
  const about = (deviceId: string, transactionId: number): Buffer =>
    Buffer.from(JSON.stringify({ data: { deviceId, transaction: { transactionId } } }));
  ledger.forged('no', about(DEVICE, 1), now());
  ledger.forged('no', about('a stranger', 2), now());
  t.match(
    ledger.troubles().map(({ deviceId, transactionId }) => ({ deviceId, transactionId })),
    [
      { deviceId: DEVICE, transactionId: 1 },
      { deviceId: '', transactionId: null },
    ],
  );
  t.end();
});

t.test('a command that arrives for the first time after a later one is out of order', (t) => {
  const { ledger, accept, deliver } = startLedger();
  for (const transactionId of [1, 2, 3]) accept(transactionId);
  deliver(1);
  deliver(3);
  deliver(1, 2);
  t.match(ledger.figures(), { unordered: 0 }, 'everything unfinished comes again from the lowest on');
  deliver(2);
  t.match(ledger.figures(), { unordered: 1 });
  t.match(ledger.troubles(), [{ kind: 'unordered', text: 'command 2 came after command 3', transactionId: 2 }]);
  t.end();
});

t.test('a command that never arrived is overtaken when a later one of its device has arrived', (t) => {
  const { ledger, accept, deliver } = startLedger();
  for (const transactionId of [1, 2, 3]) accept(transactionId);
  deliver(2);
  t.strictSame([1, 2, 3].map(ledger.overtaking), [2, undefined, undefined]);
  t.equal(ledger.overtaking(99), undefined, 'nobody knows it');
  t.end();
});

t.test('a transaction that was judged lost is late if its result arrives after all', (t) => {
  const { ledger, accept, deliver, answer, result, now } = startLedger();
  accept(1);
  deliver(1);
  answer(1);
  ledger.lose(1, 'no webhook came', now());
  ledger.lose(1, 'no webhook came', now());
  t.match(ledger.figures(), { lost: 1, unfinished: 0 });
  t.match(ledger.troubles(), [{ kind: 'lost', text: 'transaction 1 has no result: no webhook came', phase: 'day' }]);
  result(1);
  t.match(ledger.figures(), { lost: 0, late: 1, succeeded: 1 });
  t.end();
});

t.test('the lateness of a result counts from the acknowledgement of its answer', (t) => {
  const { ledger, accept, deliver, answer, result, pass } = startLedger({ lateAfter: 1000 });
  accept(1);
  pass(5000);
  deliver(1);
  answer(1);
  result(1);
  t.match(ledger.figures(), { late: 0 }, 'the device took its time');
  accept(2);
  deliver(2);
  answer(2);
  pass(2000);
  result(2);
  t.match(ledger.figures(), { late: 1 });
  t.end();
});

t.test('events are followed from their acknowledgement to their webhook', (t) => {
  const { ledger, tell, event, now } = startLedger();
  ledger.enter('day');
  tell('a');
  event('a', 'w1');
  event('b', 'w2');
  tell('b');
  event('b', 'w2');
  t.match(ledger.figures(), { eventsTold: 2, eventsReceived: 2, resent: 1, eventsDoubled: 0, lost: 0 });
  event('b', 'w3');
  tell('c');
  t.equal(ledger.waitingEvents, 1);
  for (const owed of ledger.owedEvents()) ledger.loseEvent(owed, now());
  t.match(ledger.figures('day'), { eventsDoubled: 1, doubled: 1, eventsLost: 1, lost: 1 });
  t.equal(ledger.waitingEvents, 0);
  t.end();
});

t.test('the example of a percentile is the transaction that took the longest time to reach its stage', (t) => {
  const { ledger, accept, deliver, answer, result, pass } = startLedger();
  accept(1);
  pass(50);
  deliver(1);
  answer(1);
  result(1);
  accept(2);
  deliver(2);
  pass(500);
  answer(2);
  result(2);
  t.match(ledger.example('slowest', undefined, {}, 'delivered').join('\n'), /device +gets command 1/);
  t.match(ledger.example('slowest', undefined, {}, 'settled').join('\n'), /device +gets command 2/);
  t.end();
});

t.test('figures have examples: of each phase, and of the run', (t) => {
  const { ledger, accept, deliver, answer, result, pass } = startLedger();
  accept(1);
  deliver(1);
  accept(2, 'night');
  pass(50);
  deliver(2);
  answer(2);
  result(2, { status: 'failed' });
  t.match(ledger.example('failed').join('\n'), /receiver +gets the result of transaction 2: failed INTERNAL/);
  t.match(ledger.example('slowest').join('\n'), /device +gets command 2/);
  t.match(ledger.example('slowest', 'day').join('\n'), /device +gets command 1/);
  t.match(ledger.example('unfinished').join('\n'), /transaction 1,/);
  t.strictSame([ledger.example('unfinished', 'night'), ledger.example('failed', 'day')], [[], []]);
  t.end();
});

t.test('stories of troubles are bounded, their count is not', (t) => {
  const ledger = createLedger({ began: 0 });
  ledger.enter('night');
  for (let one = 0; one < 500; one += 1) ledger.forged('webhook-signature: no', Buffer.alloc(0), one);
  t.match(ledger.figures('night'), { forged: 500 });
  t.equal(ledger.troubles().length, 50);
  ledger.enter('day');
  ledger.forged('webhook-id: no', Buffer.alloc(0), 501);
  t.match(ledger.troubles().at(-1), { phase: 'day', text: /webhook-id/ }, 'those of another phase have their own room');
  t.end();
});

t.test('a request', async (t) => {
  const timers = handTimers();
  const ledger = createLedger({ began: 0 });
  const requests = createRequests({ ledger, timers, stopped: new AbortController().signal });
  const about = { deviceId: DEVICE, operation: 'setWifi', phase: 'day', number: 1 };
  const refusal = (status: number, more: object = {}) =>
    new LapelError('PUT /', { status, body: { message: 'no' }, requestId: null, ...more });
  /** Makes a request whose attempts end as given; waiting takes no time. */
  async function make(...ends: (Error | { transactionId: number })[]) {
    const keys: string[] = [];
    const made = requests.make(about, async (key) => {
      keys.push(key);
      const end = ends.shift();
      if (end instanceof Error) throw end;
      return end;
    });
    let over = false;
    void made.then(() => {
      over = true;
    });
    while (!over) {
      await new Promise(setImmediate);
      await timers.next();
    }
    return { transactionId: await made, keys };
  }

  t.test('waits as long as a 429 demands, and its time begins then', async (t) => {
    const { transactionId, keys } = await make(refusal(429, { retryAfter: 7 }), { transactionId: 1 });
    t.equal(transactionId, 1);
    t.equal(keys.length, 2);
    t.match(ledger.figures(), { postponed: 1, accepted: 1, errors: 0, refused: {} });
    t.ok(ledger.figures().latency.accepted.max < 2000);
  });

  t.test('without an answer is repeated with its key, and each failure is counted', async (t) => {
    const { transactionId, keys } = await make(new TypeError('fetch failed'), refusal(503), { transactionId: 2 });
    t.equal(transactionId, 2);
    t.equal(new Set(keys).size, 1);
    t.match(ledger.figures(), { errors: 2, accepted: 2, requests: 2 });
    t.match(ledger.troubles(), [
      { kind: 'error', text: 'setWifi: no answer, fetch failed' },
      { kind: 'error', text: /503 no/ },
    ]);
  });

  t.test('counts its time from when it was due, not from when the simulator made it', async (t) => {
    const books = createLedger({ began: 0 });
    const late = createRequests({ ledger: books, timers, stopped: new AbortController().signal });
    await late.make({ ...about, due: timers.now() - 700 }, async () => ({ transactionId: 1 }));
    t.equal(books.figures().latency.accepted.max, 700);
  });

  t.test('that is refused is not repeated', async (t) => {
    const { transactionId, keys } = await make(refusal(403));
    t.equal(transactionId, undefined);
    t.equal(keys.length, 1);
    t.match(ledger.figures(), { refused: { 403: 1 }, requests: 3, accepted: 2, errors: 2 });
  });

  t.test('is given up after thirteen failures', async (t) => {
    const { keys } = await make(...Array.from({ length: 20 }, () => refusal(500)));
    t.equal(keys.length, 14);
    t.match(ledger.figures(), { errors: 16, requests: 4 });
  });
});
