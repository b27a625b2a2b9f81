import { createLedger } from '@lapel/device-sim/customer/create-ledger';
import { readExpectation } from '@lapel/device-sim/scenario/expectation';
import { verdictsOf, withAlways } from '@lapel/device-sim/scenario/verdicts';
import t from 'tap';

const expectationsOf = (texts: readonly string[]) =>
  texts.map((text) => {
    const read = readExpectation(text, null);
    if (typeof read === 'string') throw new Error(read);
    return read;
  });

const ONE = '352900130000016';
const OTHER = '352900130000024';

t.test('the story of lost events is that of an event, also when transactions were lost before', async (t) => {
  const ledger = createLedger({ began: 0 });
  const accepted = { operation: 'setWifi', phase: 'day', requestedAt: 1, at: 2 };
  ledger.enter('day');
  for (let transactionId = 1; transactionId <= 100; transactionId += 1) {
    ledger.accepted({ ...accepted, transactionId, deviceId: ONE });
    ledger.lose(transactionId, 'the service does not know it', 3);
  }
  ledger.told(OTHER, { eventId: 'e1', type: 'custom.sos', occurredAt: '', data: {} }, 4);
  for (const event of ledger.owedEvents()) ledger.loseEvent(event, 5);

  const expectations = expectationsOf(['lost == 0', 'eventsLost == 0']);
  const chapter = { name: 'run', spans: [], figures: ledger.figures(), fleet: {} };
  const [lost, eventsLost] = verdictsOf(expectations, [chapter], {
    ledger,
    devices: [],
    service: null,
    began: 0,
    troubles: [],
  });
  t.match(lost, { holds: false, value: 101, story: [/device 352900130000016: transaction 1 has no result/] });
  t.match(eventsLost, { holds: false, value: 1, story: [/device 352900130000024: event e1 \(custom\.sos\)/] });
});

t.test('the stories of stalls and of memory are those of the look at the service', async (t) => {
  const chapter = { name: 'run', spans: [], figures: null, fleet: { stalled: 1, memory: 9e9 } };
  const [stalled, memory] = verdictsOf(expectationsOf(['stalled == 0', 'memory < 512 MB']), [chapter], {
    ledger: null,
    devices: [],
    service: { notes: (figure) => [{ at: 3500, text: `a note about ${figure}` }] },
    began: 1000,
    troubles: [],
  });
  t.match(stalled, { holds: false, story: [/^\+ +2\.500 s +! +a note about stalled$/] });
  t.match(memory, { holds: false, story: [/a note about memory$/] });
});

t.test('the memory of the service may grow by 512 MB, and by 100 kB for each device of a large fleet', async (t) => {
  const memory = (weighed: number | null): string | undefined =>
    withAlways([], { hasCustomer: true, rollsOut: false, takesEvents: false, weighed, ownsService: false })
      .map(({ text }) => text)
      .find((text) => text.startsWith('memory'));
  t.equal(memory(null), undefined);
  t.equal(memory(20), 'memory < 512 MB');
  t.equal(memory(15_000), 'memory < 1500 MB');
});
