import type { Figures } from '@lapel/device-sim/customer/figures';
import t from 'tap';
import { DEVICE, startLedger } from './play-ledger.ts';

/** The sum of the results of all accepted transactions, which must equal `accepted`. */
const accountedFor = ({ succeeded, failed, cancelled, unfinished, lost }: Figures): number =>
  succeeded + failed + cancelled + unfinished + lost;

t.test('an id that is accepted twice is a violation, and the first one of it is lost', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  accept(1);
  accept(2);
  deliver(1);
  accept(1, 'night');
  t.match(ledger.figures(), { accepted: 3, lost: 1, reused: 1, violations: 1, unfinished: 2 });
  t.match(ledger.figures('day'), { accepted: 2, lost: 1, unfinished: 1 });
  t.match(ledger.figures('night'), { accepted: 1, reused: 1, unfinished: 1 });
  const [lost, reused] = ledger.troubles();
  t.match(lost, { kind: 'lost', text: /^transaction 1 has no result: the service gave its id to another request/ });
  t.match(lost?.story.join('\n'), /asks 352900130000016 for setWifi \(action 1\): 201, transaction 1/);
  t.match(reused, { kind: 'violation', phase: 'night', text: /^the service gave the transactionId 1 to two requests/ });
  deliver(1, 1, { issuedAt: 'later' });
  answer(1);
  result(1);
  result(2);
  t.match(ledger.figures(), { succeeded: 2, lost: 1, doubled: 0, unfinished: 0 });
  t.equal(accountedFor(ledger.figures()), 3);
  t.end();
});

t.test('an id of a finished transaction that is accepted again is another transaction', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  for (let transactionId = 1; transactionId <= 25_000; transactionId += 1) {
    accept(transactionId);
    result(transactionId);
  }
  for (const [transactionId, issuedAt] of [
    [1, 'long ago'],
    [24_999, 'just now'],
  ] as const) {
    deliver(transactionId, 1, { issuedAt });
    accept(transactionId, 'night');
    result(transactionId);
    t.match(ledger.figures('night'), { unfinished: 1, resent: 0, doubled: 0 }, 'that was the first one, once more');
    answer(transactionId);
    result(transactionId, { webhookId: `another ${transactionId}` });
    t.match(ledger.figures('night'), { unfinished: 0, doubled: 0 });
  }
  t.match(ledger.figures(), { accepted: 25_002, succeeded: 25_002, reused: 2, lost: 0, doubled: 0 });
  t.end();
});

t.test('a command with the id of another transaction, before its 201, does not belong to that one', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  accept(1);
  deliver(1);
  answer(1);
  deliver(1, 1, { issuedAt: 'later' });
  answer(1);
  accept(1, 'night');
  result(1);
  t.match(ledger.figures('day'), { accepted: 1, lost: 1, succeeded: 0 });
  t.match(ledger.figures('night'), { accepted: 1, delivered: 1, succeeded: 1, reused: 1 });
  t.equal(accountedFor(ledger.figures()), 2);
  t.end();
});

const OTHER = '352900130000024';

t.test('a command or a result of another device than asked is a violation that names both', (t) => {
  const { ledger, accept, deliver, result } = startLedger();
  accept(1);
  deliver(1, 1, { deviceId: OTHER });
  deliver(1, 2, { deviceId: OTHER });
  t.match(ledger.figures(), { violations: 1, delivered: 0, unordered: 0 });
  ledger.answered(OTHER, { transactionId: 1, status: 'succeeded' }, 9);
  ledger.acknowledged(OTHER, { transactionId: 1, status: 'succeeded' }, 9);
  accept(2);
  deliver(2);
  result(2, { deviceId: OTHER });
  t.match(ledger.figures(), { violations: 2 });
  deliver(3, 1, { deviceId: OTHER });
  accept(3);
  t.match(ledger.figures(), { violations: 3, delivered: 1, accepted: 3, unfinished: 2 });
  const texts = ledger.troubles().map(({ text }) => text);
  t.strictSame(texts, [
    `command 1, which was for device ${DEVICE}, came to device ${OTHER}`,
    `the result of transaction 2, which was for device ${DEVICE}, names device ${OTHER}`,
    `command 3, which was for device ${DEVICE}, came to device ${OTHER}`,
  ]);
  t.match(
    ledger.story({ transactionId: 1 }).join('\n'),
    new RegExp(
      `asks ${DEVICE}(.|\n)*device ${OTHER} gets command 1(.|\n)*device ${OTHER} answers command 1: succeeded`,
    ),
  );
  t.strictSame(ledger.unfinishedOf(DEVICE), [1, 3]);
  t.end();
});
