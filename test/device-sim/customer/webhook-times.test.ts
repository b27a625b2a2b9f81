import { wrongTime } from '@lapel/device-sim/customer/webhook-times';
import t from 'tap';

const END = '2026-11-20T09:31:00.000000Z';
const at = (text: string): number => Date.parse(text);
const KNOWN = { sentAt: at(END) + 500, arrivedAt: at(END) + 600, requestedAt: at(END) - 60_000 };
const ofTransaction = (timestamp: string, completedAt = timestamp) =>
  ({ type: 'transaction.succeeded', timestamp, data: { transaction: { completedAt } } }) as never;
const ofEvent = (timestamp: string) => ({ type: 'custom.sos', timestamp, data: { eventId: 'e-1' } }) as never;
const wanted = (...found: Parameters<typeof wrongTime>): string[] => wrongTime(...found).map((one) => one.wanted);

t.test('the time of a result is the end of its transaction', async (t) => {
  t.strictSame(wrongTime(ofTransaction(END), KNOWN), []);
  t.match(wanted(ofTransaction('2026-11-20T09:31:01.000000Z', END), KNOWN), [/its `completedAt` 2026/]);
  t.match(wanted(ofTransaction('soon'), KNOWN), ['a time']);
});

t.test('no result is later than its attempt, or earlier than its request', async (t) => {
  t.match(wanted(ofTransaction('2026-11-20T10:31:00.000000Z'), KNOWN), [/at most .*, when it was sent/]);
  t.match(wanted(ofTransaction('2026-11-20T08:31:00.000000Z'), KNOWN), [/at least .*, when it was requested/]);
  const slow = { ...KNOWN, sentAt: KNOWN.sentAt - 3_600_000 };
  t.strictSame(
    wanted(ofTransaction('2026-11-20T08:31:00.000000Z'), slow),
    [],
    'the clock of the service is an hour slow',
  );
});

t.test('the time of an event is that which its device has given to it', async (t) => {
  const occurredAt = '2026-11-19T09:31:00.123Z';
  t.strictSame(wanted(ofEvent('2026-11-19T09:31:00.123000Z'), { ...KNOWN, occurredAt }), []);
  t.strictSame(wanted(ofEvent(END), { ...KNOWN, occurredAt }), [occurredAt]);
  t.strictSame(wanted(ofEvent(END), KNOWN), [], 'the event is not known');
});
