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
  const words = {
    subject: 'Webhooks do not arrive: the URL of deviceEvent',
    text: `Since ${since} no notification to the URL of deviceEvent was accepted. The last reason: answered 503.`,
  };
  t.match(await told(other), { type: 'endpoint.failing', ...failing, ...words, applicationId: 'app-1' });
  await wait(180);
  await webhooks[Symbol.asyncDispose]();
  ({ webhooks, record } = await open());
  await wait(400);
  t.equal(other.requests.length, 1, 'once, also over a restart');
  main.answer({});
  await record();
  await webhooks.idle();
  const subject = 'Webhooks arrive again: the URL of deviceEvent';
  t.match(await told(other), { type: 'endpoint.recovered', setting: 'deviceEvent', since, subject });
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

void t.test('an event that no receiver could get is in the stream once, and sent when there is one', async (t) => {
  const [main, other] = [await createTestReceiver(t), await createTestReceiver(t)];
  const { open, applications, database } = await createSetUp(t, main.url);
  const { webhooks, record } = await open();
  const stored = () =>
    database.read.all<{ type: string; status: string }>(
      `SELECT type, status FROM deliveries WHERE type LIKE 'endpoint.%' ORDER BY sequence`,
    );
  const fail = async (): Promise<void> => {
    await record();
    await webhooks.idle();
  };
  main.answer({ status: 410 });
  await fail();
  await fail();
  t.same(await stored(), [{ type: 'endpoint.failing', status: 'unsent' }]);
  await applications.updateSettings('app-1', { callEvent: other.url });
  await fail();
  t.match(checkWebhook((await other.next()).body), { type: 'endpoint.failing', data: { setting: 'deviceEvent' } });
  main.answer({});
  await fail();
  t.match(checkWebhook((await other.next()).body), { type: 'endpoint.recovered' });
  await webhooks.idle();
  t.same(
    (await stored()).map(({ type }) => type),
    ['endpoint.failing', 'endpoint.failing', 'endpoint.recovered'],
  );
});
