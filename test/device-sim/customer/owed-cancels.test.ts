import { createSettling } from '@lapel/device-sim/customer/settle';
import t from 'tap';
import { DEVICE, startLedger } from './play-ledger.ts';

/** A ledger with a command that the device has and has not answered. */
function withCommand() {
  const played = startLedger();
  played.accept(1);
  played.deliver(1);
  return played;
}
const cancel = { transactionId: 1, operation: 'cancel', parameters: {}, issuedAt: 'then', attempt: 1 };

t.test('a device that has a stopped command, unanswered, is owed its cancel until it comes', async (t) => {
  for (const [status, code] of [
    ['cancelled', 'INTERNAL'],
    ['failed', 'NO_ANSWER'],
  ] as const) {
    const { ledger, result } = withCommand();
    result(1, { status, code });
    t.match(ledger.owedCancels(), [{ transactionId: 1, deviceId: DEVICE }]);
    ledger.delivered(DEVICE, cancel, 10);
    t.strictSame(ledger.owedCancels(), [], status);
    t.equal(ledger.looks()['cancel-owed'], 1);
  }
});

t.test('a cancel may come before the webhook about it', async (t) => {
  const { ledger, result } = withCommand();
  ledger.delivered(DEVICE, cancel, 3);
  result(1, { status: 'cancelled' });
  t.strictSame(ledger.owedCancels(), []);
});

t.test('no cancel is owed for a command that never came, or that was answered', async (t) => {
  const never = startLedger();
  never.accept(1);
  never.result(1, { status: 'cancelled' });
  t.strictSame(never.ledger.owedCancels(), []);
  const answered = withCommand();
  answered.answer(1);
  answered.result(1, { status: 'cancelled' });
  t.strictSame(answered.ledger.owedCancels(), []);
  const later = withCommand();
  later.result(1, { status: 'cancelled' });
  later.answer(1);
  t.strictSame(later.ledger.owedCancels(), [], 'it has answered after all');
});

t.test('a device whose connection another client has shared is owed nothing', async (t) => {
  const { ledger, result } = withCommand();
  ledger.excuseCancels(DEVICE);
  result(1, { status: 'cancelled' });
  t.strictSame(ledger.owedCancels(), []);
});

t.test('a device that was moved to another developer is owed nothing of before', async (t) => {
  const { ledger, result, accept, deliver } = withCommand();
  result(1, { status: 'cancelled' });
  ledger.moved(DEVICE, 4);
  t.strictSame(ledger.owedCancels(), []);
  const late = withCommand();
  late.ledger.moved(DEVICE, 4);
  late.result(1, { status: 'cancelled' });
  t.strictSame(late.ledger.owedCancels(), [], 'also when its webhook comes later');
  accept(2);
  deliver(2);
  result(2, { status: 'cancelled' });
  t.match(ledger.owedCancels(), [{ transactionId: 2 }], 'and of then on as before');
});

/** The end of a run in which the device is connected for so many milliseconds; null: it is away. The service knows the transaction as queued. */
function ending({ ledger }: ReturnType<typeof startLedger>, connectedFor: number | null) {
  let now = 0;
  return createSettling({
    lapel: {
      readTransaction: async () => ({ status: 'queued' }),
      listDeliveries: async () => ({ deliveries: [] }),
    } as never,
    requests: { insist: (call: () => unknown) => call() } as never,
    ledger,
    timers: {
      now: () => now,
      after(milliseconds, task) {
        now += milliseconds;
        setImmediate(task);
        return () => undefined;
      },
    },
    spentSince: (from) => now - from,
    stopped: new AbortController().signal,
    device: () => undefined,
    onlineSince: () => (connectedFor === null ? undefined : -connectedFor),
    onlineFor: () => (connectedFor === null ? 60_000 : connectedFor + now),
    onRedeliver: () => undefined,
    gone: () => [],
  });
}

t.test(
  'at the end of a run a connected device must have got its cancel, and a device that is away need not',
  async (t) => {
    const connected = withCommand();
    connected.result(1, { status: 'cancelled' });
    await ending(connected, 100)(10);
    t.match(connected.ledger.figures(), { violations: 1 });
    const [trouble] = connected.ledger.troubles();
    t.match(trouble, {
      kind: 'violation',
      deviceId: DEVICE,
      text: /the device has command 1, unanswered, and never got/,
    });
    const away = withCommand();
    away.result(1, { status: 'cancelled' });
    await ending(away, null)(10);
    t.match(away.ledger.figures(), { violations: 0 });
  },
);

t.test('a device that is away now has lost nothing, however long it was connected before', async (t) => {
  const played = startLedger();
  played.accept(1);
  played.accept(2);
  played.deliver(2);
  t.match(await ending(played, null)(10), { unfinished: 2, away: 2 });
  t.match(played.ledger.figures(), { lost: 0 });
  await ending(played, 60_000)(10);
  t.match(played.ledger.figures(), { lost: 1 });
});
