import t from 'tap';
import { checkWebhook } from '../contract/checked-messages.ts';
import { createSetUp } from './set-up.ts';
import { createTestReceiver, type TestReceiver } from './test-receiver.ts';

void t.test('an application learns of its failing receiver through another one', async (t) => {
  const [main, other] = [await createTestReceiver(t), await createTestReceiver(t)];
  const { open, applications, clock } = await createSetUp(t, main.url);
  const settings = { callEvent: main.url, callFileSendEvent: other.url };
  await applications.updateSettings('app-1', settings);
  let { webhooks, record } = await open();
  const told = async (receiver: TestReceiver) => {
    const { type, data } = checkWebhook((await receiver.next()).body) as { type: string; data: object };
    return { type, ...data };
  };
  /** Moves the time until the next attempts. */
  async function wait(minutes: number): Promise<void> {
    clock.advance(minutes * 60_000);
    await webhooks.idle();
  }
  const since = '2026-11-20T09:30:00.123456Z';

  main.answer({ status: 503 });
  await record();
  await webhooks.idle();
  for (const minutes of [1, 7]) await wait(minutes);
  t.equal(other.requests.length, 0, 'not of one that may be well again in a moment');
  await wait(40);
  const failing = { setting: 'deviceEvent', since, lastStatusCode: 503, lastError: 'answered 503' };
  t.match(await told(other), { type: 'endpoint.failing', ...failing, applicationId: 'app-1' });
  await wait(180);
  await webhooks[Symbol.asyncDispose]();
  ({ webhooks, record } = await open());
  await wait(400);
  t.equal(other.requests.length, 1, 'once, also over a restart');
  main.answer({});
  await record();
  await webhooks.idle();
  t.match(await told(other), { type: 'endpoint.recovered', setting: 'deviceEvent', since });
  await wait(24 * 60);

  main.answer({ status: 410 });
  await record();
  await webhooks.idle();
  t.match(await told(other), { type: 'endpoint.failing', lastStatusCode: 410 }, 'at once of what is given up');
  main.answer({});
  await record();
  await webhooks.idle();
  t.match(await told(other), { type: 'endpoint.recovered' });

  other.answer({ status: 410 });
  await record({ setting: 'callFileSendEvent' });
  main.answer({ status: 410 });
  await record();
  await webhooks.idle();
  const before = main.requests.length;
  await record({ setting: 'callEvent' });
  await webhooks.idle();
  t.equal(main.requests.length, before + 1, 'nobody is told where all of them fail');
});
