import t from 'tap';
import { DATABASES, startLives } from './lives.ts';

for (const database of DATABASES) {
  t.test(`what was never sent while the clock was an hour ahead is sent at the next start: ${database}`, async (t) => {
    const { sent, begin, succeed, idle } = await startLives(t, database);
    await begin(1, { LAPEL_WEBHOOKS_HELD: 'true' });
    await succeed(3);
    await idle();
    await sent(1, 1);
    await begin(0);
    await sent(4, 4);
  });

  t.test(`what was refused while the clock was an hour ahead is sent again after its wait: ${database}`, async (t) => {
    const { receiver, ofSetting, sent, begin, succeed } = await startLives(t, database);
    await begin(1);
    for (const one of [receiver, ofSetting]) one.answer({ status: 503 });
    await succeed(1);
    await sent(2, 2);
    for (const one of [receiver, ofSetting]) one.answer({});
    await begin(0);
    await sent(3, 3);
  });

  t.test(`an event that was let go while the clock was an hour ahead does not wait: ${database}`, async (t) => {
    const { receiver, sent, begin, succeed, skip } = await startLives(t, database);
    receiver.answer({ status: 503 });
    await succeed(2);
    await sent(3, 2);
    await begin(1, { LAPEL_WEBHOOKS_HELD: 'true' });
    await skip();
    await succeed(1);
    receiver.answer({});
    await begin(0);
    await sent(4, 4);
  });

  t.test(
    `a device that failed while the clock was an hour ahead is tried again after its wait: ${database}`,
    async (t) => {
      const { tenant, clock, begin, api, connect, idle } = await startLives(t, database);
      await begin(1);
      const before = await connect();
      const json = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };
      const retry = { codes: ['BUSY'], attempts: 2, after: 60 };
      const { body } = await (await api()).post(`${tenant.path}/rollouts`, { json: { ...json, retry } });
      const { transactionId } = await before.command();
      await before.ack({ transactionId, status: 'failed', error: { code: 'BUSY', message: 'it records.' } });
      await idle();
      await begin(0);
      const after = await connect();
      for (let seconds = 0; seconds < 120; seconds += 10) {
        clock.advance(10_000);
        await idle();
      }
      const { devices } = (await (await api()).get(`${tenant.path}/rollouts/${body.rolloutId}/devices`)).body;
      t.match(devices, [{ state: 'unfinished' }]);
      t.not((await after.command()).transactionId, transactionId);
    },
  );

  t.test(`a stage does not soak for the hour that the clock was ahead: ${database}`, async (t) => {
    const { tenant, clock, begin, api, connect, idle } = await startLives(t, database);
    await begin(1);
    const before = await connect();
    const json = {
      operation: 'setLanguage',
      parameters: { lang: 'ja' },
      devices: {},
      continuous: true,
      stages: [{ count: 1, continueWhen: { succeededPercent: 100, soakFor: 120 } }],
    };
    const { body } = await (await api()).post(`${tenant.path}/rollouts`, { json });
    t.ok(body.rolloutId, JSON.stringify(body));
    const { transactionId } = await before.command();
    await before.ack({ transactionId, status: 'succeeded' });
    await idle();
    await begin(0);
    for (let seconds = 0; seconds < 300; seconds += 10) {
      clock.advance(10_000);
      await idle();
    }
    t.match((await (await api()).get(`${tenant.path}/rollouts/${body.rolloutId}`)).body, { stage: 2 });
  });
}
