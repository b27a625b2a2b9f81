import { createRequests } from '@lapel/device-sim/mqtt/requests';
import t from 'tap';

/** A connection, and a clock that the test moves. */
function desk() {
  const sent: { requestId: string; type: string; data: object }[] = [];
  const due = new Set<() => void>();
  const line = { online: true };
  const requests = createRequests({
    isOnline: () => line.online,
    publish: (payload) => sent.push(JSON.parse(payload)),
    wait: 1000,
    timers: {
      now: () => 0,
      after(_milliseconds, task) {
        due.add(task);
        return () => due.delete(task);
      },
    },
  });
  return { requests, line, sent, due, signal: new AbortController().signal };
}

t.test('a request gets the answer with its requestId, and ends', async (t) => {
  const { requests, sent, due, signal } = desk();
  const one = requests.ask('softwareDownloadUrl', { transactionId: 1 }, signal);
  const two = requests.ask('softwareDownloadUrl', { transactionId: 2 }, signal);
  t.match(sent, [{ type: 'softwareDownloadUrl', data: { transactionId: 1 } }, { data: { transactionId: 2 } }]);
  requests.receive({ requestId: sent[1]!.requestId, answer: { data: { url: 'two' } } });
  requests.receive({ requestId: sent[0]!.requestId, answer: { error: { code: 'INTERNAL', message: 'one' } } });
  t.strictSame(await one, { error: { code: 'INTERNAL', message: 'one' } });
  t.strictSame(await two, { data: { url: 'two' } });
  t.equal(due.size, 0);
});

t.test('while there is no connection nothing is sent and no time counts', async (t) => {
  const { requests, line, sent, due, signal } = desk();
  line.online = false;
  const asked = requests.ask('softwareDownloadUrl', {}, signal);
  t.equal(sent.length, 0);
  t.equal(due.size, 0);
  line.online = true;
  requests.online();
  requests.online();
  t.equal(sent.length, 1, 'sent once');
  t.equal(due.size, 1);
  for (const task of due) task();
  t.equal(await asked, 'timeout');
});

t.test('an aborted request rejects, and leaves nothing behind', async (t) => {
  const { requests, due } = desk();
  const controller = new AbortController();
  const asked = requests.ask('softwareDownloadUrl', {}, controller.signal);
  controller.abort(new Error('cancelled'));
  await t.rejects(asked, { message: 'cancelled' });
  t.equal(due.size, 0);
  await t.rejects(requests.ask('softwareDownloadUrl', {}, controller.signal), { message: 'cancelled' });
});
