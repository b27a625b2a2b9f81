import t from 'tap';
import { until } from '../until.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld } from '../world.ts';
import { openBrowser, openPage, NO_BROWSER as skip } from './browser.ts';
import { checkPage, DESK } from './check-page.ts';
import { HOSTILE } from './hostile-fleet.ts';
import { createRunningClock } from './running-clock.ts';

t.test('the pages of endpoints and events', { skip, timeout: 600_000 }, async (t) => {
  const world = await startWorld(t, { clock: createRunningClock() });
  const tenant = await world.createTenant();
  const [stuck, other] = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
  const receiver = await createTestReceiver(t);
  const customer = await openPage(await openBrowser(t), world.service.addresses.http);
  const { page } = customer;
  const dialog = page.getByRole('dialog');
  const places = page.getByRole('table', { name: 'Places' });
  const deliveries = page.getByRole('table', { name: 'Deliveries' });
  const list = page.getByRole('table', { name: 'Events' });

  let sent = 0;
  /** Lets a device report an event. */
  async function report({ link }: typeof stuck, data: object = {}): Promise<void> {
    sent += 1;
    const occurredAt = new Date(world.clock.now() / 1000).toISOString();
    link.publish('events', { eventId: `event-${sent}`, type: 'custom.sos', occurredAt, data });
    await link.next('puback');
    await tenant.event();
  }
  async function signIn(acts = true): Promise<void> {
    await page.getByLabel('Application').fill(tenant.applicationId);
    await page.getByLabel('Secret').fill(tenant.secret);
    if (!acts) await page.getByLabel(/changes/i).uncheck();
    await page.getByRole('button', { name: 'Sign in' }).click();
  }
  const press = (name: string, within = page.locator('#page')) =>
    within.getByRole('button', { name, exact: true }).click();
  const check = async (name: string): Promise<void> => {
    await checkPage(t, customer, name);
    await page.setViewportSize(DESK);
  };
  t.beforeEach(() => void customer.faults.splice(0));
  await page.setViewportSize(DESK);
  await page.goto('/console/');
  await signIn();
  await page.getByRole('heading', { level: 1, name: 'Start' }).waitFor();

  await t.test('an endpoint is added, and its secret is shown once', async (t) => {
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Endpoints' }).click();
    await places
      .getByRole('row', { name: /deviceEvent/ })
      .getByText(tenant.receiver.url)
      .waitFor();
    await press('Add an endpoint');
    await dialog.getByLabel('URL').fill(receiver.url);
    await dialog.getByLabel('Description').fill(HOSTILE.image);
    await dialog.getByLabel('Types of events').fill('custom.*');
    await dialog.getByLabel('Order').selectOption('device');
    await press('Add', dialog);
    t.match(await dialog.locator('.secret code').innerText(), /^whsec_/);
    await dialog.getByRole('button', { name: 'Copy' }).waitFor();
    await press('I have saved it', dialog);
    const row = places.getByRole('row', { name: HOSTILE.image });
    await row.getByText('Nothing waits to be sent.').waitFor();
    await row.getByText('each device in order').waitFor();
    await check('endpoints');
    await row.getByRole('link', { name: HOSTILE.image }).click();
    await page.getByRole('heading', { level: 1, name: HOSTILE.image }).waitFor();
    t.same(customer.faults, []);
  });

  await t.test('its name is changed, unless somebody else has changed it meanwhile', async (t) => {
    await press('Change');
    await dialog.getByLabel('Description').fill('Billing');
    const { body } = await tenant.api.get(`${tenant.path}/endpoints`);
    const { endpointId } = body.endpoints[0];
    await tenant.api.patch(`${tenant.path}/endpoints/${endpointId}`, { json: { ratePerSecond: 50 } });
    await press('Change', dialog);
    await dialog.getByRole('alert').getByText('Events a second').waitFor();
    t.ok(customer.expected(/412/));
    await press('Change', dialog);
    await page.getByRole('heading', { level: 1, name: 'Billing' }).waitFor();
    await page.getByText('at most 50 new events a second').waitFor();
    t.same(customer.faults, []);
  });

  await t.test('a test event is sent, and its answer is shown', async (t) => {
    await press('Send a test event');
    await dialog.getByText('delivered').waitFor();
    await press('Close', dialog);
    t.equal(JSON.parse(String((await receiver.next()).body)).type, 'test');
    await deliveries.getByRole('row', { name: /^test/ }).getByText('delivered').waitFor();
    t.same(customer.faults, []);
  });

  await t.test('an event that blocks its device is skipped, and the next one goes on', async (t) => {
    receiver.answer(({ body }) => (body.includes(stuck.deviceId) ? { status: 500 } : {}));
    await report(stuck);
    await report(stuck, { number: 2 });
    await report(other);
    const row = page.getByRole('table', { name: 'Blocked devices' }).getByRole('row', { name: stuck.deviceId });
    await row.getByText('answered 500').waitFor();
    await check('endpoint');
    const wanted = await customer.focusable();
    const reached = new Set<string>();
    for (let presses = 0; presses < wanted.length + 5; presses += 1) {
      await page.keyboard.press('Tab');
      reached.add((await customer.focused()).name);
    }
    const missed = wanted.filter((name) => !reached.has(name));
    t.same(missed, [], 'the keyboard alone reaches everything');
    receiver.answer({});
    await row.getByRole('button', { name: 'Skip this event' }).click();
    await dialog.getByText(/Then the 1 event of this device that waits for it is sent\./).waitFor();
    await press('Skip this event', dialog);
    await deliveries.getByText('skipped').waitFor();
    await row.waitFor({ state: 'detached' });
    await until(() => receiver.requests.some(({ body }) => body.includes('"number":2')));
    await page.getByText('Nothing waits to be sent.').waitFor();
    await page.getByRole('button', { name: '+ filter' }).click();
    await press('State');
    await press('skipped');
    await page.getByRole('button', { name: 'State: skipped' }).waitFor();
    await deliveries.getByText('delivered').first().waitFor({ state: 'detached' });
    await deliveries.getByText('skipped').waitFor();
    t.equal(await deliveries.getByRole('row').count(), 2, 'the head and one row');
    t.same(customer.faults, []);
  });

  await t.test('a replay says before how many events it sends, and sends them', async (t) => {
    const before = receiver.requests.length;
    await press('Replay');
    await dialog.getByText('3 events will be sent again.').waitFor();
    await dialog.getByLabel('Device').fill(stuck.deviceId);
    await dialog.getByText('2 events will be sent again.').waitFor();
    await press('Start the replay', dialog);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('The replay of 2 events has begun.').waitFor();
    await page.getByRole('region', { name: 'A replay runs' }).waitFor({ state: 'detached' });
    await deliveries.getByText('skipped').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Remove the filter State' }).click();
    await deliveries
      .getByRole('row', { name: /custom\.sos/ })
      .nth(2)
      .getByText('delivered')
      .waitFor();
    t.equal(receiver.requests.length, before + 2);
    t.same(customer.faults, []);
  });

  await t.test('who enables an endpoint is told what it missed, and chooses', async (t) => {
    await press('Disable');
    await press('Disable', dialog);
    await page.getByText('Disabled by somebody.').waitFor();
    await report(other);
    await page
      .getByRole('definition')
      .filter({ hasText: /^1 event$/ })
      .waitFor();
    await press('Enable');
    await dialog.getByText(/^1 event for it has come since it took its last one/).waitFor();
    await dialog.getByLabel('What it missed').selectOption('skip');
    await press('Enable', dialog);
    await page.getByText('Nothing waits to be sent.').waitFor();
    t.same(customer.faults, []);
  });

  await t.test('a replay that waits for the endpoint is cancelled', async (t) => {
    receiver.answer({ status: 500 });
    const { body } = await tenant.api.get(`${tenant.path}/endpoints`);
    const { endpointId } = body.endpoints[0];
    await tenant.api.patch(`${tenant.path}/endpoints/${endpointId}`, { json: { ordered: 'none' } });
    for (let number = 0; number < 5; number += 1) await report(other);
    await page.getByText(/^Fails since .*: answered 500\.$/).waitFor();
    await press('Replay');
    await press('Start the replay', dialog);
    const running = page.getByRole('region', { name: 'A replay runs' });
    await running.getByText(/^0 of \d+ events taken so far\.$/).waitFor();
    await check('running');
    await press('Cancel', running);
    await press('Cancel the replay', dialog);
    await running.waitFor({ state: 'detached' });
    t.same(customer.faults, []);
  });

  await t.test('the stream is shown, the newest first, also as an endpoint would have got it', async (t) => {
    await page.getByRole('link', { name: 'Which events it would have got' }).click();
    await page.getByRole('button', { name: 'Types: custom.*' }).waitFor();
    await page.getByText('All 9 events that match of those that are kept.').waitFor();
    await list.locator('summary').nth(7).click();
    await list.getByText('"number": 2').waitFor();
    await check('events');
    await page.getByRole('button', { name: 'Remove the filter Types' }).click();
    const row = list.getByRole('row', { name: /^test/ });
    await row.waitFor();
    t.equal(await row.getByRole('link').count(), 0, 'it is about no device');
    await page.getByText('All 12 events of those that are kept.').waitFor();
    t.same(customer.faults, []);
  });

  await t.test('with the public key nothing is secret; a removed endpoint is gone', async (t) => {
    await customer.visit('/console/endpoints');
    await places.getByRole('link', { name: 'Billing' }).click();
    await press('New secret');
    await dialog.getByLabel('Signature').selectOption('v1a');
    await press('Make it', dialog);
    t.match(await dialog.locator('.secret code').innerText(), /^whpk_/);
    await press('Close', dialog);
    await page.getByText('v1a, with a key pair').waitFor();
    await press('Remove');
    await press('Remove', dialog);
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor();
    await page.getByText('Billing').waitFor({ state: 'detached' });
    t.same(customer.faults, []);
  });

  await t.test('who may only read sees no buttons that change', async (t) => {
    const json = { url: receiver.url, description: 'Archive' };
    await tenant.api.post(`${tenant.path}/endpoints`, { json });
    await press('Sign out', page.locator('body'));
    await signIn(false);
    await page.getByRole('heading', { level: 1, name: 'Endpoints' }).waitFor();
    await places.getByRole('link', { name: 'Archive' }).waitFor();
    t.equal(await page.locator('#page button:not(.copy)').count(), 0);
    await places.getByRole('link', { name: 'Archive' }).click();
    await page.getByRole('heading', { level: 1, name: 'Archive' }).waitFor();
    await customer.settled();
    t.equal(await page.locator('#page header.head button:not(.copy)').count(), 0);
    t.same(customer.faults, []);
  });

  await t.test('a consumer that is behind is told at the start, and deleted on the page of events', async (t) => {
    await press('Sign out', page.locator('body'));
    await page.getByLabel('Secret').waitFor();
    world.clock.advance(2 * 3_600_000);
    await tenant.renew();
    await tenant.api.put(`${tenant.path}/events/consumers/billing`, { json: { after: 0 } });
    await signIn();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Start' }).click();
    const told = page.getByRole('list', { name: 'Consumers that are behind' });
    await told.getByText(/^An event has waited 2 hours for the consumer billing: /).waitFor();
    await check('start-behind');
    await told.getByRole('link').click();
    const row = page.getByRole('table', { name: 'Consumers' }).getByRole('row', { name: /billing/ });
    await row.getByText('behind', { exact: true }).waitFor();
    await check('consumers');
    await press('Delete', row);
    await press('Delete', dialog);
    await page.getByText('No program keeps its place here.').waitFor();
    t.same(customer.faults, []);
  });
});
