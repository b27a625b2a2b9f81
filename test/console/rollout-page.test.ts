import t, { type Test } from 'tap';
import { pass, startRollouts } from '../rollouts/rollout-world.ts';
import { openBrowser, openPage, NO_BROWSER as skip } from './browser.ts';
import { checkPage, DESK } from './check-page.ts';
import { openLine } from './line.ts';
import { createRunningClock } from './running-clock.ts';

t.test('the page of a rollout', { skip, timeout: 600_000 }, async (t) => {
  const rollouts = await startRollouts(t, 9, { clock: createRunningClock() });
  const { world, tenant, device, members, start, commands, answer, read, act } = rollouts;
  const rolloutId = await start({
    startAt: new Date(world.clock.now() / 1000 + 60_000).toISOString(),
    label: 'Language of the night shift',
    stages: [{ count: 8, continueWhen: { succeededPercent: 25, soakFor: 86_400 }, approval: true }],
    abort: { failedPercent: 50, minimumResults: 5 },
  });
  // The first stage is drawn by chance: one of its devices goes away before the rollout begins.
  await act(rolloutId, 'pause');
  const away = (await members(rolloutId)).find(({ stage }) => stage === 1)!;
  await device(away.deviceId).link.drop();
  world.clock.advance(61_000);
  await act(rolloutId, 'resume');
  const sent = [...(await commands())];
  await answer(...sent[0]!);
  await answer(...sent[1]!);
  const customer = await openPage(await openBrowser(t), world.service.addresses.http);
  const { page } = customer;
  await page.setViewportSize(DESK);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/console/');
  await page.getByLabel('Application').fill(tenant.applicationId);
  await page.getByLabel('Secret').fill(tenant.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
  await customer.visit(`/console/rollouts/${rolloutId}`);
  await page.getByRole('heading', { level: 1, name: 'Language of the night shift' }).waitFor();
  const verdict = page.getByRole('list', { name: 'Verdict on stage 1' });
  const dialog = page.getByRole('dialog');
  const rules = page.getByRole('region', { name: 'Rules that stop it' });

  await t.test('is live, and all its figures are of one answer', async (t) => {
    await page.getByText('Live', { exact: true }).first().waitFor();
    await verdict.getByText('failed: 0').waitFor();
    await page.getByRole('img', { name: 'Devices' }).first().waitFor();
    t.same(
      asked.filter((path) => path.endsWith('/results')),
      [],
      'the plot has no request of its own',
    );
    await answer(...sent[2]!);
    await page.getByText(/^3 succeeded$/).waitFor();
  });

  await t.test('tells devices that are switched off from those that carry the command out', async () => {
    await pass(world, 1_000);
    const states = page.getByRole('list', { name: 'Devices by state' });
    await states.getByText('1 switched off: not seen since their command was made').waitFor();
    await states.getByText('4 installing: have the command, and no result').waitFor();
  });

  await t.test('says what the end waits for, and how far the rules are', async () => {
    await page.getByText('its end waits for an approval').waitFor();
    await rules.getByText('0 of 3 results failed; stops at 3 failures').waitFor();
  });

  await t.test('has no fault', async (t) => checkPage(t, customer, 'the rollout'));

  await t.test('refuses an approval of figures that have changed, and says which', async (t) => {
    await page.setViewportSize(DESK);
    await verdict.getByText('seen since: 2 or more').waitFor(); // nothing else changes from then on
    await page.locator('.head').getByRole('button', { name: 'Approve' }).click();
    await dialog.getByText('failed: 0').waitFor();
    await answer(...sent[3]!, 'BROKEN');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.getByRole('alert').getByText('failed: 0, now 1; codes: none, now BROKEN').waitFor();
    await dialog.getByText('failed: 1').waitFor();
    t.ok(customer.expected(/412/));
    t.match((await read(rolloutId)).stages[0], { approved: false });
    await dialog.getByRole('button', { name: 'Approve' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('approved', { exact: true }).waitFor();
    const history = page.getByRole('region', { name: 'History' });
    await history.getByText(/^succeeded 2 or more, failed 1, codes BROKEN/).waitFor();
  });

  await t.test('advises to bring the devices back after the abort rule, and keeps the figures', async (t) => {
    for (const each of sent.slice(4, 6)) await answer(...each, 'BROKEN');
    await page.getByText('The first thing to do is to bring its devices back.').waitFor();
    const then = page.getByRole('list', { name: 'Figures at the pause' });
    await then.getByText('paused: ABORT_RULE').waitFor();
    t.same((await page.locator('.head > .row').getByRole('button').allTextContents())[0], 'Revert');
    await page.getByRole('button', { name: 'Bring the devices back' }).click();
    await dialog.getByText('Bring the devices back?').waitFor();
    await dialog.getByRole('button', { name: 'Back' }).click();
  });

  await t.test('shows what a resume has accepted', async () => {
    await page.getByRole('button', { name: 'Resume' }).click();
    await dialog.getByText('paused: ABORT_RULE').waitFor();
    await dialog.getByRole('button', { name: 'Let it go on' }).click();
    await dialog.waitFor({ state: 'detached' });
    await rules.getByText(/of the \d results before were accepted/).waitFor();
  });
});

/** The page of a rollout, as its application sees it. */
async function pageOf(
  t: Test,
  { world, tenant }: Awaited<ReturnType<typeof startRollouts>>,
  rolloutId: string,
  address = world.service.addresses.http,
) {
  const watched = await openPage(await openBrowser(t), address);
  const { page } = watched;
  await page.goto('/console/');
  await page.getByLabel('Application').fill(tenant.applicationId);
  await page.getByLabel('Secret').fill(tenant.secret);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
  await watched.visit(`/console/rollouts/${rolloutId}`);
  return { ...watched, orders: page.locator('.head > .row').getByRole('button'), dialog: page.getByRole('dialog') };
}

t.test('the page offers what the service permits to the one who looks', { skip, timeout: 300_000 }, async (t) => {
  const rollouts = await startRollouts(t, 2, { clock: createRunningClock() });
  const { start, commands, answer } = rollouts;
  const rolloutId = await start({ stages: [{ count: 1, approval: { by: 'other' } }] });
  for (const one of await commands()) await answer(...one);
  const { page, orders } = await pageOf(t, rollouts, rolloutId);
  await page.getByText('waits for the approval of a person who has neither started it nor changed it last.').waitFor();
  t.same(await orders.allTextContents(), ['Revert', 'Pause', 'Cancel'], 'the token is no person');
});

t.test('the page says that a stage soaks, and that its soak is over', { skip, timeout: 300_000 }, async (t) => {
  const rollouts = await startRollouts(t, 3, { clock: createRunningClock() });
  const { start, commands, answer } = rollouts;
  const rolloutId = await start({
    stages: [{ count: 2, continueWhen: { succeededPercent: 50, soakFor: 600 }, approval: true }],
  });
  const [first] = [...(await commands())];
  const { page, orders } = await pageOf(t, rollouts, rolloutId);
  const stage = page.getByRole('list', { name: 'Stages' }).getByRole('listitem').first();
  await stage.getByText('running', { exact: true }).waitFor();
  t.equal(await orders.getByText('Approve').getAttribute('class'), '', 'nothing is to be approved yet');
  await answer(...first!);
  await stage.getByText('soaks', { exact: true }).waitFor();
  await stage.getByText('The soak ends in').waitFor();
  await page.getByText('The next stage waits for the end of the soak, and for an approval.').waitFor();
  t.equal(await orders.getByText('Approve').getAttribute('class'), 'main');
  // Ten minutes later, by the clock of the machine and by that of the service, which the page hears of in each answer.
  await page.evaluate(`{
    const [now, parse] = [Date.now, Date.parse];
    Date.now = () => now() + 601_000;
    Date.parse = (text) => parse(text) + (text.endsWith('GMT') ? 601_000 : 0);
  }`);
  await stage.getByText('The soak is over.').waitFor();
  await stage.getByText('running', { exact: true }).waitFor();
  await page.getByText('The next stage waits for an approval.').waitFor();
});

t.test('a revert of networks asks how long devices try their former list', { skip, timeout: 300_000 }, async (t) => {
  const rollouts = await startRollouts(t, 1, { clock: createRunningClock() });
  const { world, start, commands, answer, read } = rollouts;
  const wifi = (ssid: string) => ({
    operation: 'setWifi',
    parameters: [{ ssid, password: 'secret of it', security: 'WPA2' }],
    answerWithin: 1_000,
  });
  let rolloutId = '';
  for (const json of [wifi('former'), { ...wifi('new'), revertAfter: 120 }]) {
    rolloutId = await start(json);
    for (const one of await commands()) await answer(...one);
  }
  const { page, orders, dialog } = await pageOf(t, rollouts, rolloutId);
  await orders.getByText('Revert').click();
  const field = dialog.getByLabel('If the device does not reach the service within');
  t.same(
    await field.locator('option').allTextContents(),
    ['as in this rollout: 2 min', '5 minutes', '10 minutes'],
    'a device that has no answer after 1,000 seconds cannot try for longer',
  );
  await field.selectOption({ label: '10 minutes' });
  await dialog.getByRole('button', { name: 'Revert' }).click();
  await page.getByText('A rollout brings 1 device back.').waitFor();
  await world.idle();
  const { revertedBy = '' } = await read(rolloutId);
  t.match((await read(revertedBy)).rules, { revertAfter: 600, answerWithin: 1_000 });
});

t.test('a page whose stream has lost changes looks again', { skip, timeout: 300_000 }, async (t) => {
  const rollouts = await startRollouts(t, 3, { clock: createRunningClock() });
  const { world, start, commands, answer } = rollouts;
  const line = await openLine(t, world.service.addresses.http);
  const rolloutId = await start();
  const [first, second, third] = [...(await commands())];
  await answer(...first!);
  const { page, expected, visit } = await pageOf(t, rollouts, rolloutId, line.address);
  const live = page.getByText('Live', { exact: true }).first();
  await live.waitFor();
  await page.getByText(/^1 succeeded$/).waitFor();

  await t.test('a rollout, after the stream was cut', async (t) => {
    line.cut();
    await live.waitFor({ state: 'detached' });
    await answer(...second!, 'BROKEN');
    line.mend();
    await page.getByRole('link', { name: 'BROKEN' }).waitFor();
    await live.waitFor();
    t.ok(expected(/ERR_/));
  });

  await t.test('the transactions of a device, after the stream was cut', async (t) => {
    await visit(`/console/devices/${third![0]}`);
    const row = page.getByRole('region', { name: 'Timeline' }).getByRole('row', { name: 'Set language' });
    await row.getByText('delivered').waitFor();
    await live.waitFor();
    line.cut();
    await live.waitFor({ state: 'detached' });
    await answer(...third!, 'BROKEN');
    line.mend();
    await row.getByText('failed').waitFor();
    t.ok(expected(/ERR_/));
  });

  await t.test('a device, when the service says that it could not send all changes', async () => {
    await live.waitFor();
    const read = page.waitForRequest(/\/transactions\?/);
    line.say('snapshot', []);
    await read;
  });
});
