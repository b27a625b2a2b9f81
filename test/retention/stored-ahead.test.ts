import t from 'tap';
import { SETTLED_MS } from '../../src/runtime/clock-trust.ts';
import { DATABASES, startLives } from './lives.ts';

/** Seconds, with the minute in which a rollout is looked at again. */
const SETTLED = SETTLED_MS / 1_000 + 60;
const LANG = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} };

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
    const { receiver, ofSetting, sent, begin, succeed, pass } = await startLives(t, database);
    await begin(1);
    for (const one of [receiver, ofSetting]) one.answer({ status: 503 });
    await succeed(1);
    await sent(2, 2);
    for (const one of [receiver, ofSetting]) one.answer({});
    await begin(0);
    await succeed(1); // so the latest command does not tell of the clock that was ahead
    await pass(SETTLED);
    await sent(4, 4);
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
      const { tenant, begin, api, connect, idle, pass } = await startLives(t, database);
      await begin(1);
      const before = await connect();
      const retry = { codes: ['BUSY'], attempts: 2, after: 60 };
      const { body } = await (await api()).post(`${tenant.path}/rollouts`, { json: { ...LANG, retry } });
      const { transactionId } = await before.command();
      await before.ack({ transactionId, status: 'failed', error: { code: 'BUSY', message: 'it records.' } });
      await idle();
      await begin(0);
      const after = await connect();
      await pass(SETTLED + 120);
      const { devices } = (await (await api()).get(`${tenant.path}/rollouts/${body.rolloutId}/devices`)).body;
      t.match(devices, [{ state: 'unfinished' }]);
      t.not((await after.command()).transactionId, transactionId);
    },
  );

  t.test(`a stage does not soak for the hour that the clock was ahead: ${database}`, async (t) => {
    const { tenant, begin, api, connect, idle, pass } = await startLives(t, database);
    await begin(1);
    const before = await connect();
    const json = {
      ...LANG,
      continuous: true,
      stages: [{ count: 1, continueWhen: { succeededPercent: 100, soakFor: 120 } }],
    };
    const { body } = await (await api()).post(`${tenant.path}/rollouts`, { json });
    t.ok(body.rolloutId, JSON.stringify(body));
    const { transactionId } = await before.command();
    await before.ack({ transactionId, status: 'succeeded' });
    await idle();
    await begin(0);
    await pass(SETTLED + 240);
    t.match((await (await api()).get(`${tenant.path}/rollouts/${body.rolloutId}`)).body, { stage: 2 });
  });

  t.test(`a clock that is behind at a start, and then put right, sends no retry early: ${database}`, async (t) => {
    const { receiver, ofSetting, sent, begin, succeed, pass, putRight } = await startLives(t, database);
    for (const one of [receiver, ofSetting]) one.answer({ status: 503 });
    await succeed(1);
    await sent(2, 2);
    await pass(20);
    await sent(3, 3);
    await begin(-1);
    await pass(60);
    putRight();
    await pass(60);
    await sent(3, 3);
    await pass(300);
    await sent(4, 4);
  });

  t.test(`a clock that is behind at a start cuts no soak and no wait of a device short: ${database}`, async (t) => {
    const { tenant, begin, api, connect, idle, pass, putRight } = await startLives(t, database);
    const start = async (json: object): Promise<string> =>
      (await (await api()).post(`${tenant.path}/rollouts`, { json })).body.rolloutId;
    const stages = [{ count: 1, continueWhen: { succeededPercent: 100, soakFor: 1800 } }];
    const soaking = await start({ ...LANG, continuous: true, stages });
    const before = await connect();
    await before.ack({ transactionId: (await before.command()).transactionId, status: 'succeeded' });
    const retry = { codes: ['BUSY'], attempts: 2, after: 1800 };
    const waiting = await start({ ...LANG, parameters: { lang: 'de' }, retry });
    const { transactionId } = await before.command();
    await before.ack({ transactionId, status: 'failed', error: { code: 'BUSY', message: 'it records.' } });
    await idle();
    await begin(-1);
    await connect();
    await pass(120);
    putRight();
    await pass(300);
    const of = async (rolloutId: string) => (await (await api()).get(`${tenant.path}/rollouts/${rolloutId}`)).body;
    t.match(await of(soaking), { stage: 1, counts: { succeeded: 1 } });
    t.match(await of(waiting), { counts: { waiting: 1 } });
    await pass(1800);
    t.match(await of(soaking), { stage: 2 });
    t.match(await of(waiting), { counts: { unfinished: 1 } });
  });
}
