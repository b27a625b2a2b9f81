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
