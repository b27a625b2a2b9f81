import type { LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import type { ActionName } from '@lapel/device-sim/customer/action';
import { createActivation } from '@lapel/device-sim/customer/activation';
import { createLedger } from '@lapel/device-sim/customer/create-ledger';
import { createRequests } from '@lapel/device-sim/customer/requests';
import t from 'tap';
import { handTimers } from '../hand-timers.ts';

const PATIENCE = 5000;

/** A service that accepts `perSecond` requests and answers 429 to the others, and its devices. */
function world({
  devices,
  perSecond,
  answers,
}: {
  devices: number;
  perSecond: number;
  answers: (place: number) => boolean;
}) {
  const timers = handTimers();
  const stopped = new AbortController().signal;
  const requests = createRequests({ ledger: createLedger({ began: 0 }), timers, stopped });
  const deviceIds = Array.from({ length: devices }, (_, place) => `device ${place}`);
  const asked: string[] = [];
  let taken = { second: -1, requests: 0 };
  function limit(): void {
    const second = Math.floor(timers.now() / 1000);
    if (taken.second !== second) taken = { second, requests: 0 };
    taken.requests += 1;
    if (taken.requests > perSecond)
      throw new LapelError('POST /', { status: 429, body: { message: 'no' }, requestId: null, retryAfter: 1 });
  }
  const lapel = {
    async readActivation() {
      limit();
      return { status: 'notActivated', clientId: null };
    },
  } as unknown as LapelClient;
  const activation = createActivation({
    lapel,
    applicationId: 'app',
    requests,
    timers,
    spentSince: (from) => timers.now() - from,
    stopped,
    device: () => undefined,
    actions: {
      perform: (_action: { do: ActionName }, deviceId) =>
        requests.make({ deviceId, operation: 'activate', phase: 'start' }, async () => {
          limit();
          asked.push(deviceId);
          const transactionId = asked.length;
          if (answers(deviceIds.indexOf(deviceId)))
            timers.after(300, () => activation.concluded(transactionId, 'succeeded'));
          return { transactionId };
        }),
    },
  });
  return {
    timers,
    asked,
    async activate() {
      let done: string[] | undefined;
      void activation.activate(deviceIds, 'start', PATIENCE).then((activated) => {
        done = activated;
      });
      while (!done) {
        await new Promise(setImmediate);
        await timers.next();
      }
      return done;
    },
  };
}

t.test(
  'all devices are asked first, however long 429 answers delay this, and patience counts for answers only',
  async (t) => {
    const { timers, asked, activate } = world({ devices: 60, perSecond: 10, answers: () => true });
    t.equal((await activate()).length, 60);
    t.equal(new Set(asked).size, 60);
    t.ok(timers.now() > 2 * PATIENCE, 'longer than patience lasts');
  },
);

t.test(
  'patience counts from the last progress, so a device that never answers delays the others no longer',
  async (t) => {
    const { timers, activate } = world({ devices: 40, perSecond: 10, answers: (place) => place !== 3 });
    t.equal((await activate()).length, 39);
    t.ok(timers.now() > 7000 + PATIENCE && timers.now() < 20_000, String(timers.now()));
  },
);
