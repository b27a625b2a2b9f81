import { getEventListeners } from 'node:events';
import t from 'tap';
import { createPreparation } from '../../src/core/outbox/preparation.ts';
import { createLog } from '../../src/runtime/log.ts';
import { createFakeClock } from '../fake-clock.ts';

t.test('a connection that lasts for years keeps no memory of prepared commands', async (t) => {
  const connection = new AbortController();
  const waiter = { signal: connection.signal, pausing: () => undefined };
  const clock = createFakeClock();
  const log = createLog({ level: 'silent' });
  let failures = 0;
  const prepare = createPreparation({
    clock,
    log,
    async prepare() {
      failures -= 1;
      if (failures >= 0) throw new Error(`away, ${failures} times more`);
      return { url: 'https://objects.example/binary' };
    },
  });
  const due = {
    transactionId: 1,
    applicationId: 'app',
    operation: 'installSoftware',
    parameters: {},
    status: 'queued',
    attempts: 1,
    createdAt: 0,
    updatedAt: 0,
    answerWithin: null,
    expiresAt: null,
    rolloutId: null,
    traceparent: null,
  };
  for (let count = 0; count < 20; count += 1) t.match(await prepare(due, waiter), { url: /^https:/ });
  t.equal(getEventListeners(connection.signal, 'abort').length, 0);

  failures = 1;
  let answered = false;
  const late = prepare(due, waiter)?.finally(() => {
    answered = true;
  });
  while (!answered) {
    clock.advance(60_000);
    await new Promise(setImmediate);
  }
  t.match(await late, { url: /^https:/ }, 'also when the object store was away');
  t.equal(getEventListeners(connection.signal, 'abort').length, 0);

  failures = 1000;
  const lost = prepare(due, waiter);
  await new Promise(setImmediate);
  connection.abort();
  t.equal(await lost, null, 'and who has gone waits no longer');
  t.equal(getEventListeners(connection.signal, 'abort').length, 0);

  const left = failures;
  t.equal(await prepare(due, waiter), null);
  t.equal(failures, left, 'nothing is prepared for who has gone: nobody would hear of a failure');
});
