import { createConformance } from '@lapel/device-sim/mqtt/conformance';
import t from 'tap';
import { DEVICE, startLedger } from './play-ledger.ts';

t.test('what was stored before a backup is owed after its restore, and what came since may be gone', (t) => {
  const { ledger, accept, deliver, answer, result, now } = startLedger();
  accept(1); // ends before the backup
  deliver(1);
  answer(1);
  result(1);
  accept(2); // ends in the lost time
  deliver(2);
  accept(3); // waits all the time
  const from = now() + 1;
  answer(2);
  result(2, { status: 'failed' });
  accept(4); // is made in the lost time, and ends in it
  deliver(4);
  answer(4);
  result(4);
  accept(5); // is made in the lost time
  t.match(ledger.figures(), { accepted: 5, succeeded: 2, failed: 1, unfinished: 2 });
  ledger.restored(from);
  t.match(ledger.figures(), { accepted: 5, succeeded: 1, failed: 0, failures: { INTERNAL: 0 }, unfinished: 4 });
  t.same(
    ledger.owed().map(({ transactionId, mayBeGone }) => [transactionId, mayBeGone]),
    [
      [3, false],
      [5, true],
      [2, false],
      [4, true],
    ],
  );
  for (const transactionId of [3, 4, 5]) ledger.gone(transactionId);
  t.match(ledger.figures(), { requests: 3, accepted: 3, unfinished: 2, lost: 0 }, 'only what may be gone is forgotten');
  ledger.lose(3, 'nobody knows it', now());
  t.match(ledger.figures(), { lost: 1 });
  t.end();
});

t.test('a result of the lost time comes once more, with another webhook-id or with the same', (t) => {
  const { ledger, accept, deliver, answer, result, now } = startLedger();
  for (const transactionId of [1, 2, 3]) accept(transactionId);
  for (const transactionId of [1, 2, 3]) deliver(transactionId);
  answer(1);
  result(1);
  const from = now() + 1;
  for (const transactionId of [2, 3]) answer(transactionId);
  for (const transactionId of [2, 3]) result(transactionId);
  ledger.connected(DEVICE, now());
  ledger.restored(from);
  deliver(2, 1);
  t.match(
    ledger.figures(),
    { doubled: 0, unordered: 0, violations: 0 },
    'a command comes again, with its first attempt',
  );
  result(2, { webhookId: 'another' });
  result(3, { webhookId: 'w3' });
  t.match(ledger.figures(), { succeeded: 3, unfinished: 0, doubled: 0, wrong: 0 });
  result(2, { webhookId: 'a third' });
  t.match(ledger.figures(), { doubled: 1 }, 'and not more often');
  result(1, { webhookId: 'another for 1' });
  t.match(ledger.figures(), { doubled: 2 }, 'one of before the backup stays as it was');
  t.end();
});

t.test('a number that comes again after a restore is a violation', (t) => {
  const { ledger, accept, now } = startLedger();
  accept(1);
  const from = now() + 1;
  accept(2);
  ledger.restored(from);
  accept(2);
  t.match(ledger.figures(), { reused: 1, violations: 1 });
  t.end();
});

t.test('events of the lost time are owed no more, and may come again', (t) => {
  const { ledger, tell, event, now } = startLedger();
  tell('before');
  const from = now() + 1;
  tell('since');
  tell('came');
  event('came', 'msg_1');
  ledger.restored(from);
  t.same(
    ledger.owedEvents().map(({ eventId }) => eventId),
    ['before'],
  );
  event('came', 'msg_2');
  t.match(ledger.figures(), { eventsDoubled: 0 });
  event('came', 'msg_3');
  t.match(ledger.figures(), { eventsDoubled: 1 });
  t.end();
});

t.test('a device counts the attempts anew after a restore, and knows each number', (t) => {
  const conformance = createConformance({ memory: 10 });
  const command = (transactionId: number, attempt: number, issuedAt = 'then') =>
    conformance.fault({ transactionId, attempt, issuedAt, operation: 'setWifi', parameters: {} }, false);
  t.equal(command(1, 1), undefined);
  conformance.disconnected();
  t.equal(command(1, 2), undefined);
  conformance.disconnected();
  conformance.restored();
  t.equal(command(1, 2), undefined, 'the second attempt was lost');
  conformance.disconnected();
  t.match(command(1, 2), /came again with attempt 2, after attempt 2/);
  conformance.disconnected();
  t.match(command(1, 1, 'later'), /came again with issuedAt later instead of then/);
  t.end();
});
