import t from 'tap';
import { DEVICE, startLedger } from './play-ledger.ts';

t.test('an expired command must not come on a connection that began a second after its webhook', (t) => {
  const { ledger, accept, deliver, result, pass, now } = startLedger();
  accept(1);
  result(1, { status: 'failed', code: 'EXPIRED' });
  pass(5000);
  ledger.connected(DEVICE, now());
  deliver(1);
  t.match(ledger.figures(), { violations: 1, failures: { EXPIRED: 1 } });
  t.match(ledger.troubles(), [{ text: 'command 1 came on a later connection, although it has expired' }]);
  t.end();
});

t.test('an answered command gets no cancel', (t) => {
  const { ledger, accept, deliver, answer, result } = startLedger();
  const cancel = (transactionId: number, issuedAt = 'then') =>
    ledger.delivered(DEVICE, { transactionId, operation: 'cancel', parameters: {}, issuedAt, attempt: 2 }, 99);
  for (const [transactionId, status] of [
    [1, 'cancelled'],
    [2, 'succeeded'],
    [3, 'failed'],
  ] as const) {
    accept(transactionId);
    deliver(transactionId);
    answer(transactionId);
    cancel(transactionId);
    t.equal(ledger.figures().violations, Math.max(0, transactionId - 2), 'a cancel may overtake its webhook');
    result(transactionId, { status });
    cancel(transactionId);
    t.equal(ledger.figures().violations, transactionId - 1, status);
  }
  cancel(2, 'later');
  t.equal(ledger.figures().violations, 2, 'a newer command with the same id may be cancelled');
  const text = 'the cancel of command 2 came, although the command had succeeded';
  t.match(ledger.troubles(), [{ kind: 'violation', deviceId: DEVICE, text }, { text: /command 3 .* had failed$/ }]);
  t.end();
});

t.test('a command may expire only by the terms of its request, and not before its time', async (t) => {
  const minute = { expireIn: 60, answerWithin: 60 };
  const cases = [
    { way: 'in time', code: 'EXPIRED', terms: minute, after: 60_000, wrong: 0 },
    { way: 'without an answer', code: 'NO_ANSWER', terms: minute, after: 60_000, wrong: 0 },
    { way: 'too early', code: 'EXPIRED', terms: minute, after: 59_000, wrong: 1 },
    { way: 'without such a term', code: 'NO_ANSWER', terms: { expireIn: 60 }, after: 60_000, wrong: 1 },
    { way: 'without terms', code: 'EXPIRED', terms: {}, after: 60_000, wrong: 1 },
  ] as const;
  for (const { way, code, terms, after, wrong } of cases) {
    const { ledger, end } = startLedger();
    end({ terms, after, status: 'failed', code });
    t.equal(ledger.figures().wrong, wrong, way);
  }
  for (const superseding of [false, true]) {
    const { ledger, end } = startLedger();
    if (superseding) ledger.supersedes(DEVICE);
    end({ terms: {}, after: 1, status: 'cancelled', code: 'SUPERSEDED' });
    t.equal(
      ledger.figures().wrong,
      superseding ? 0 : 1,
      `superseded ${superseding ? 'by' : 'without'} a newer command`,
    );
  }
});
