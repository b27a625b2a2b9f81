import type { Terms } from '@lapel/device-sim/customer/action';
import t from 'tap';
import { DEVICE, startLedger } from './play-ledger.ts';

const rolloutId = 'rol_00000000000000000000000000000001';
const OTHER = 'rol_00000000000000000000000000000002';

function startRollout() {
  const played = startLedger();
  const begin = (terms: Terms = {}): void => {
    const asked = { operation: 'setWifi', parameters: {}, terms };
    played.ledger.rolledOut({ rolloutId, phase: 'night', devices: 2, asked }, played.now());
  };
  return { ...played, begin };
}

t.test('a transaction of a rollout is known by its webhook, also before the rollout is', async (t) => {
  const { ledger, begin, deliver, answer, result } = startRollout();
  deliver(1);
  answer(1);
  result(1, { rolloutId });
  t.match(ledger.figures(), { accepted: 0, unasked: 1 });
  begin();
  t.match(ledger.figures('night'), { accepted: 1, requests: 1, delivered: 1, succeeded: 1, wrong: 0, rollouts: 1 });
  deliver(2);
  answer(2);
  result(2, { rolloutId });
  t.match(ledger.figures('night'), { accepted: 2, succeeded: 2, wrong: 0 });
  t.match(ledger.figures(), { unasked: 0, unfinished: 0 });
  t.strictSame([...ledger.transactionsOf(rolloutId).keys()], [1, 2]);
  t.equal(ledger.figures('night', { action: 'rollout' }).accepted, 2);
});

t.test('a transaction that only the list of the service has is owed, until it is taken back', async (t) => {
  const { ledger, begin, now } = startRollout();
  begin();
  for (const transactionId of [1, 2, 1]) ledger.adopt({ rolloutId, transactionId, deviceId: DEVICE }, now());
  t.match(ledger.figures('night'), { accepted: 2, unfinished: 2 });
  t.strictSame(ledger.unfinishedOf(DEVICE), [1, 2]);
  ledger.takenBack(1);
  t.match(ledger.figures('night'), { requests: 1, accepted: 1, unfinished: 1 });
  ledger.lose(2, 'no webhook', now());
  t.match(ledger.figures('night'), { lost: 1, unfinished: 0 });
  t.match(ledger.troubles(), [{ kind: 'lost', deviceId: DEVICE, transactionId: 2 }]);
});

t.test('the webhook of a transaction must name its rollout, and no other', async (t) => {
  for (const [way, said, listed, wrong] of [
    ['its own', rolloutId, rolloutId, 0],
    ['none', undefined, rolloutId, 1],
    ['another', OTHER, rolloutId, 1],
  ] as const) {
    const { ledger, begin, deliver, answer, result, now } = startRollout();
    begin();
    deliver(1);
    answer(1);
    result(1, { rolloutId: said });
    ledger.adopt({ rolloutId: listed, transactionId: 1, deviceId: DEVICE }, now());
    t.equal(ledger.figures().wrong, wrong, way);
    t.match(ledger.troubles(), wrong ? [{ text: /^the webhook of transaction 1 has the wrong rolloutId/ }] : [], way);
  }
  const { ledger, accept, deliver, answer, result } = startRollout();
  accept(1);
  deliver(1);
  answer(1);
  result(1, { rolloutId });
  t.equal(ledger.figures().wrong, 1, 'a request has no rollout');
});

t.test('a command that was cancelled, or that expired by its terms, needs no answer', async (t) => {
  const { ledger, begin, result } = startRollout();
  begin({ expireIn: 60 });
  result(1, { status: 'cancelled', rolloutId });
  result(2, { status: 'failed', code: 'EXPIRED', rolloutId });
  t.match(ledger.figures('night'), { accepted: 2, cancelled: 1, failures: { EXPIRED: 1 }, wrong: 0 });
  result(3, { status: 'failed', code: 'NO_ANSWER', rolloutId });
  t.match(ledger.figures('night'), { wrong: 1 }, 'the rollout has no such term');
});

t.test('many transactions of a large rollout are remembered before their webhooks', async (t) => {
  const { ledger, deliver, begin, result } = startRollout();
  ledger.rolledOut(
    { rolloutId: OTHER, phase: 'night', devices: 11_000, asked: { operation: 'setWifi', parameters: {} } },
    0,
  );
  begin();
  for (let transactionId = 1; transactionId <= 11_000; transactionId += 1) deliver(transactionId);
  result(1, { status: 'cancelled', rolloutId });
  t.match(ledger.figures('night'), { delivered: 1 });
});
