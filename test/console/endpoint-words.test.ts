import { endpointName, endpointWords } from '@lapel/console/base/endpoint-words';
import { when } from '@lapel/console/base/format';
import t from 'tap';

type Stated = Parameters<typeof endpointWords>[0];

const QUIET: Stated = {
  enabled: true,
  disabledReason: null,
  failingSince: null,
  lastStatusCode: null,
  lastError: null,
  blockedDevices: [],
  ordered: 'none',
  state: { behind: 0, pending: 0, blocked: 0, seconds: 0, delivered: 0, failed: 0 },
};

t.test('the state of an endpoint is said in a sentence', async (t) => {
  const of = (more: Partial<Stated>, state: Partial<Stated['state']> = {}): string =>
    endpointWords({ ...QUIET, ...more, state: { ...QUIET.state, ...state } }).sentence;
  const device = { deviceId: '350000000000014', blockedBy: 4, waiting: 2 };
  t.equal(of({}), 'Nothing waits to be sent.');
  t.equal(of({}, { delivered: 3 }), 'Nothing waits, and every attempt of the last 24 hours was accepted.');
  t.equal(of({}, { delivered: 3, failed: 1 }), 'Nothing waits to be sent.', 'perhaps an event was given up');
  t.equal(of({}, { behind: 3 }), 'It has not looked at the last 3 events yet.');
  t.equal(of({}, { behind: 1 }), 'It has not looked at the last event yet.');
  t.equal(of({}, { pending: 1, seconds: 90 }), '1 event waits to be sent, the oldest for 1 min 30 s.');
  t.equal(of({}, { pending: 10_000 }), '10,000 or more events wait to be sent.');
  t.equal(
    of({ ordered: 'device', blockedDevices: [device] }, { pending: 1, blocked: 2, seconds: 61 }),
    'Events of 1 device wait for an earlier one, the oldest for 1 min 1 s.',
  );
  const failingSince = '2026-11-29T12:00:00.000000Z';
  const since = { failingSince, lastStatusCode: 500 };
  t.equal(of(since, { pending: 4 }), `Fails since ${when(failingSince)}: answered 500.`);
  t.equal(
    of({ ...since, ordered: 'device', blockedDevices: [device] }),
    `Fails since ${when(failingSince)}: answered 500. Events of 1 device wait for an earlier one.`,
  );
  t.equal(
    of({ ...since, lastStatusCode: null, lastError: 'connection refused' }),
    `Fails since ${when(failingSince)}: connection refused.`,
  );
  t.equal(of({ enabled: false, disabledReason: 'failing' }), 'Disabled, because it had failed for five days.');
  t.equal(of({ enabled: false, disabledReason: 'asked' }, { blocked: 3 }), 'Disabled by somebody.');
});

t.test('the name of an endpoint is its description, or the host of its URL', async (t) => {
  const url = 'https://billing.example.com:8443/hook?x=1';
  t.equal(endpointName({ description: 'Billing', url }), 'Billing');
  t.equal(endpointName({ description: '', url }), 'billing.example.com:8443');
});
