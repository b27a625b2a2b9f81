import { freePort } from '@lapel/tools/harness/free-port';
import type { Page } from 'playwright-core';
import t from 'tap';
import { startWorld } from '../world.ts';
import { LONGEST_STEP, openBrowser, openPage, NO_BROWSER as skip } from './browser.ts';
import { createRunningClock } from './running-clock.ts';
import { setHidden } from './walks.ts';

const MINUTE = 60_000;

/** A page shows the truth at every moment, and loses no input of its user. */
t.test('time and order', { skip }, async (t) => {
  const clock = createRunningClock();
  const port = await freePort();
  const world = await startWorld(t, { clock, env: { LAPEL_ADMIN_PORT: String(port) } });
  const tenant = await world.createTenant();
  const { admin } = world.service.addresses;
  const browser = await openBrowser(t);
  const operator = await openPage(browser, admin);
  const { page } = operator;
  const dialog = page.getByRole('dialog');
  const live = (at: Page) => at.locator('.live').getByText('Live', { exact: true });
  const heading = (name: string) => page.getByRole('heading', { level: 1, name });

  async function signIn(at = page, token = world.service.adminToken): Promise<void> {
    await at.getByLabel('Administrator token').fill(token);
    await at.getByRole('button', { name: 'Sign in' }).click();
  }
  const nameOf = async (developerId: string) =>
    (await world.admin().get(`/admin/v1/developers/${developerId}`)).body as { name: string; deviceLimit: number };

  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto('/console/');
  await page.getByLabel('Administrator token').waitFor();
  t.same(
    asked.map((path) => path.replace(/files\/[\w-]{22}/, 'files')),
    ['/console/', '/console/files/style.css', '/console/files/main.js', '/console/session'],
    'a first visit needs four requests',
  );
  await signIn();
  await heading('Overview').waitFor();
  t.beforeEach(() => void operator.faults.splice(0));

  await t.test('a form is still filled after the session has ended and somebody has signed in again', async (t) => {
    await page.goto('/console/developers/dev');
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByLabel('Name').fill('typed before the end');
    clock.advance(31 * MINUTE);
    await dialog.getByRole('button', { name: 'Change' }).click();
    const again = page.getByRole('dialog', { name: 'Sign in as the operator' });
    await again.getByText('Your session has ended').waitFor();
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape');
    await again.waitFor();
    await signIn();
    await again.waitFor({ state: 'detached' });
    t.equal(await dialog.getByLabel('Name').inputValue(), 'typed before the end');
    await dialog.getByText('Your input is still here').waitFor();
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.waitFor({ state: 'detached' });
    await heading('typed before the end').waitFor();
    t.ok(operator.expected(/401/));
    t.same(operator.faults, []);

    await operator.context.clearCookies();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await again.waitFor();
    const other = await operator.context.newPage();
    await other.goto('/console/');
    await signIn(other);
    await other.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await other.close();
    await page.evaluate(`dispatchEvent(new Event('focus'))`); // without windows, a browser does not tell it
    await again.waitFor({ state: 'detached' });
    t.ok(operator.expected(/401/));
    t.same(operator.faults, []);
    await page.goto('/console/developers/dev');
  });

  await t.test('each of two operators sends only what they changed, and is told what the other one did', async (t) => {
    await page.getByRole('button', { name: 'Change', exact: true }).click();
    await dialog.getByLabel('Name').fill('mine');
    await world.admin().patch('/admin/v1/developers/dev', { json: { deviceLimit: 77 } });
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.getByText('Somebody else has changed this').waitFor();
    await dialog.getByText(/Most activated devices.*→ 77/).waitFor();
    await dialog.getByText('The last change was by token').waitFor();
    const [log] = await Promise.all([
      operator.context.waitForEvent('page'),
      dialog.getByRole('link', { name: 'Look at all changes' }).click(),
    ]);
    await log
      .getByText(/changed the developer/)
      .first()
      .waitFor();
    await log.close();
    t.equal(await dialog.getByLabel('Name').inputValue(), 'mine');
    t.equal(await dialog.getByLabel('Most activated devices').inputValue(), '77', 'the field shows what is there now');
    t.match(await nameOf('dev'), { name: 'typed before the end', deviceLimit: 77 }, 'nothing was changed so far');
    await dialog.getByRole('button', { name: 'Change' }).click();
    await dialog.waitFor({ state: 'detached' });
    t.match(await nameOf('dev'), { name: 'mine', deviceLimit: 77 });
    t.ok(operator.expected(/412/));
    t.same(operator.faults, []);
  });

  await t.test('on a slow line nobody is taken away from the page that they look at', async (t) => {
    await page.goto('/console/developers');
    await page.getByRole('button', { name: 'New developer' }).click();
    await dialog.getByLabel('Name', { exact: true }).fill('slow');
    await dialog.getByLabel('developerId').fill('slow');
    const { promise: isLeft, resolve: leave } = Promise.withResolvers<void>();
    await page.route('**/admin/v1/developers', async (route) => {
      if (route.request().method() === 'POST') await isLeft;
      await route.continue();
    });
    const sent = page.waitForRequest((request) => request.method() === 'POST');
    await dialog.getByRole('button', { name: 'Create' }).click();
    await sent;
    await page.evaluate(`history.pushState(null, '', '/console/audit'); dispatchEvent(new PopStateEvent('popstate'))`);
    await heading('Audit log').waitFor();
    await dialog.waitFor({ state: 'detached' });
    leave();
    await page.getByText('The developer was created.').waitFor();
    t.match(page.url(), /\/audit$/);
    await page.unroute('**/admin/v1/developers');
    await page.goBack();
    await heading('Developers').waitFor();
    t.same(operator.faults, []);
  });

  await t.test('a change that is reported while a list is read is not lost to the older answer', async (t) => {
    const device = await world.activatedDevice(tenant);
    await page.goto(`/console/devices?prefix=${device.deviceId}`);
    const row = page.getByRole('row', { name: device.deviceId });
    await row.getByText('connected', { exact: true }).waitFor();
    await live(page).waitFor();
    const { promise: isGone, resolve: goes } = Promise.withResolvers<void>();
    const { promise: isRead, resolve: read } = Promise.withResolvers<void>();
    await page.route('**/admin/v1/devices?*', async (route) => {
      const answer = await route.fetch();
      read();
      await isGone;
      await route.fulfill({ response: answer });
    });
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await isRead;
    device.link.socket.destroy();
    await row.getByText('disconnected', { exact: true }).waitFor();
    const answered = page.waitForResponse(/admin\/v1\/devices\?/);
    goes();
    await (await answered).finished();
    await page.unroute('**/admin/v1/devices?*');
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(drawn))');
    t.ok(await row.getByText('disconnected', { exact: true }).isVisible());
    t.same(operator.faults, []);
  });

  await t.test('a list whose first rows are far behind is not shown as empty', async (t) => {
    const device = await world.activatedDevice(tenant);
    // The service examines a bounded number of rows for an answer, so that of a large fleet can be empty.
    await page.route('**/admin/v1/devices?*', async (route) => {
      const asked = new URL(route.request().url());
      if (asked.searchParams.has('after')) return route.continue();
      asked.searchParams.set('after', '000000000000000');
      const link = `<${asked.href}>; rel="next"`;
      return route.fulfill({ json: { devices: [] }, headers: { link } });
    });
    await page.goto('/console/devices?connected=true');
    await page.getByRole('row', { name: device.deviceId }).waitFor();
    await page.unroute('**/admin/v1/devices?*');
    t.same(operator.faults, []);
  });

  await t.test('the older entries of a story stay where they are while new ones come', async (t) => {
    const storied = await world.createTenant('storied');
    const device = await world.activatedDevice(storied);
    device.link.socket.destroy();
    const order = () => storied.api.put(`${device.path}/settings/lang`, { json: { lang: 'de' } });
    for (let commands = 0; commands < 55; commands += 1) await order();
    await page.goto(`/console/devices/${device.deviceId}`);
    const rows = page.getByRole('table', { name: 'Story' }).locator('tbody tr');
    const older = page.getByRole('button', { name: 'Show older entries' });
    await page.route(/story.*after=/, (route) => route.fulfill({ status: 500, json: { reason: 'broken' } }), {
      times: 1,
    });
    await older.click();
    await page.getByText('broken').waitFor();
    t.ok(operator.expected(/500/));
    t.equal(await rows.count(), 50);
    await older.click();
    await page.getByText('Nothing older is recorded.').waitFor();
    const before = await rows.count();
    t.ok(before > 55, `${before} entries`);
    await order();
    await rows.nth(before).waitFor();
    t.same(operator.faults, []);
  });

  await t.test('after the computer has slept the page reads everything again, also the stream', async (t) => {
    await page.goto('/console/transactions');
    await live(page).waitFor();
    const stream = page.waitForRequest(/\/feed\?/);
    const list = page.waitForRequest(/\/transactions\?/);
    await page.evaluate(`{ const real = Date.now; Date.now = () => real() + 3_600_000; }`);
    await Promise.all([stream, list]);
    await live(page).waitFor();
    t.same(operator.faults, []);
  });

  await t.test(
    'after a restart of the service every page is loaded again by itself, also without a stream',
    async (t) => {
      await page.goto('/console/developers');
      await page.getByRole('link', { name: 'slow', exact: true }).waitFor();
      await world.restart(async () => {
        await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Audit log' }).click();
        await page.getByText('The page is loaded again when it is back.').waitFor();
      });
      await page
        .getByText(/registered the device/)
        .first()
        .waitFor();
      await page.getByRole('alert').waitFor({ state: 'detached' });
      t.ok(operator.expected(/ERR_|50\d/));
      await tenant.renew();
      t.same(operator.faults, []);
    },
  );

  await t.test('seven windows share one stream, and leave connections for requests', async (t) => {
    const streams = new Set<object>();
    operator.context.on('request', (request) => {
      if (request.url().includes('/feed?')) streams.add(request);
    });
    operator.context.on('requestfinished', (request) => void streams.delete(request));
    operator.context.on('requestfailed', (request) => void streams.delete(request));
    const device = await world.activatedDevice(tenant);
    const windows: Page[] = [];
    for (const path of [
      '',
      'devices',
      'transactions',
      'webhooks',
      `devices/${device.deviceId}`,
      'rollouts',
      'devices',
    ]) {
      const window = await operator.context.newPage();
      window.setDefaultTimeout(LONGEST_STEP);
      await window.goto(`/console/${path}`);
      windows.push(window);
    }
    for (const window of windows.filter((_, index) => index !== 5)) await live(window).waitFor();
    const last = windows.at(-1)!;
    await last.getByRole('row', { name: device.deviceId }).getByText('connected', { exact: true }).waitFor();
    device.link.socket.destroy();
    await last.getByRole('row', { name: device.deviceId }).getByText('disconnected', { exact: true }).waitFor();
    await windows[4]!.getByText('disconnected', { exact: true }).first().waitFor();
    t.equal(streams.size, 1, 'one stream for all of them');
    // The window that has the stream is hidden, and another one takes it over; then all but one are closed.
    await setHidden(windows[0]!, true);
    await windows[0]!.locator('.live').getByText('Paused').waitFor();
    const between = await world.connect(device);
    await last.getByRole('row', { name: device.deviceId }).getByText('connected', { exact: true }).waitFor();
    between.socket.destroy();
    await last.getByRole('row', { name: device.deviceId }).getByText('disconnected', { exact: true }).waitFor();
    for (const window of windows.slice(0, 6)) await window.close();
    const again = await world.connect(device);
    await live(last).waitFor();
    await last.getByRole('row', { name: device.deviceId }).getByText('connected', { exact: true }).waitFor();
    again.socket.destroy();
    await last.close();
    t.same(operator.faults, []);
  });

  await t.test('a window of a browser without locks has a stream of its own', async (t) => {
    const window = await operator.context.newPage();
    await window.addInitScript('delete Navigator.prototype.locks');
    const stream = window.waitForRequest(/\/feed\?/);
    await window.goto('/console/transactions');
    await stream;
    await live(window).waitFor();
    await window.close();
    t.same(operator.faults, []);
  });

  await t.test('a plot says the values under the cursor, and when they were', async (t) => {
    const others = {
      devices: 9,
      due: 0,
      oldestDueSeconds: 0,
      pending: 0,
      failingReceivers: 0,
      created: 0,
      finished: 0,
    };
    const rest = { failed: 0, attemptsFailed: 0, loopP99Ms: 1, commitP99Ms: 1, activated: 5 };
    const end = Math.floor(Date.now() / 10_000) * 10_000;
    const points = Array.from({ length: 91 }, (_, index) => ({
      at: new Date(end - (90 - index) * 10_000).toISOString(),
      connected: index < 45 ? 1_234 : 2_345,
      ...others,
      ...rest,
    }));
    await page.route('**/fleet/history?*', (route) => route.fulfill({ json: { stepSeconds: 10, points } }));
    await page.goto('/console/');
    const plot = page.locator('.plot').first();
    await plot.getByText('2,345').waitFor();
    const { x, y, width, height } = (await plot.locator('.u-over').boundingBox())!;
    await page.mouse.move(x + width / 4, y + height / 2);
    await plot.getByText('1,234').waitFor();
    await plot.getByText(/\d\d:\d\d:\d\d (UTC|GMT\S*|[A-Z]{3,4})$/).waitFor();
    await page.mouse.move(0, 0);
    await plot.getByText('2,345').waitFor();
    await page.unroute('**/fleet/history?*');
    t.same(operator.faults, []);
  });

  await t.test('pages are kept for the application that they belong to, and for nobody else', async (t) => {
    const other = await world.createTenant('other');
    const customer = await openPage(browser, world.service.addresses.http);
    const theirs = customer.page;
    const enter = async ({ applicationId, secret }: Pick<typeof tenant, 'applicationId' | 'secret'>): Promise<void> => {
      await theirs.getByRole('textbox', { name: 'Application' }).fill(applicationId);
      await theirs.getByLabel('Secret').fill(secret);
      await theirs.getByRole('button', { name: 'Sign in' }).click();
    };
    const renewed = async (applicationId: string) =>
      (await world.admin().post(`/admin/v1/applications/${applicationId}/secret`)).body as { secret: string };
    await theirs.goto('/console/');
    await enter(tenant);
    await theirs.getByRole('link', { name: 'Settings' }).click();
    const form = theirs.getByRole('dialog').filter({ hasText: 'Change the webhook URLs' });
    await theirs.getByRole('button', { name: 'Change the URLs' }).click();
    await form.getByLabel('callEvent').fill('https://typed.example/');
    const { secret } = await renewed(tenant.applicationId);
    await form.getByRole('button', { name: 'Change' }).dispatchEvent('click');
    await theirs.getByText('Your session has ended').waitFor();
    await form.getByRole('button', { name: 'Change' }).dispatchEvent('click');
    await form.getByText('nothing was changed').waitFor();
    t.equal(await theirs.getByRole('textbox', { name: 'Application' }).inputValue(), tenant.applicationId);
    await enter({ applicationId: tenant.applicationId, secret });
    await theirs.getByText('Your session has ended').waitFor({ state: 'detached' });
    t.equal(await form.getByLabel('callEvent').inputValue(), 'https://typed.example/');
    await renewed(tenant.applicationId);
    await form.getByRole('button', { name: 'Change' }).dispatchEvent('click');
    await theirs.getByText('Your session has ended').waitFor();
    await enter(other);
    await theirs.getByText(other.applicationId).first().waitFor();
    await form.waitFor({ state: 'detached' });
    t.equal(await theirs.getByText(tenant.applicationId).count(), 0);
    t.ok(customer.expected(/401/));
    t.same(customer.faults, []);
    await customer.context.close();
  });
});
