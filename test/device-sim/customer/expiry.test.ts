import t from 'tap';
import { wrongResult } from '../../../device-sim/customer/contents.ts';
import { newEntry } from '../../../device-sim/customer/entry.ts';
import { DEVICE, startLedger } from './play-ledger.ts';

const ended = (status: string, code: string | null) => ({
  operation: 'setWifi',
  status,
  result: null,
  error: code === null ? null : { code, message: '' },
});
const fieldsOf = (found: readonly { field: string }[]): string[] => found.map(({ field }) => field);

t.test('a transaction may expire only under the terms that the customer gave, whatever the device answers', (t) => {
  const entry = (terms: object) => ({
    ...newEntry(1, DEVICE, 0),
    asked: { operation: 'setWifi', parameters: {}, terms },
    given: [{ status: 'succeeded', result: null, error: null }],
  });
  t.strictSame(wrongResult(entry({ expireIn: 60 }), ended('failed', 'EXPIRED')), []);
  t.strictSame(wrongResult(entry({ answerWithin: 60 }), ended('failed', 'NO_ANSWER')), []);
  t.ok(fieldsOf(wrongResult(entry({ answerWithin: 60 }), ended('failed', 'EXPIRED'))).includes('status'));
  t.ok(fieldsOf(wrongResult(entry({}), ended('failed', 'NO_ANSWER'))).includes('status'));
  t.strictSame(wrongResult(entry({}), ended('cancelled', 'SUPERSEDED')), []);
  t.strictSame(fieldsOf(wrongResult(entry({}), ended('cancelled', 'EXPIRED'))), ['error']);
  t.end();
});

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
