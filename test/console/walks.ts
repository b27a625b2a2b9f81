import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { deviceIdOf, type Tenant, transactionIdOf, WIFI, type World } from '../world.ts';
import type { Watched } from './browser.ts';
import { addFilter } from './list-walks.ts';

interface Walk {
  world: World;
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

const dialogOf = (page: Page) => page.getByRole('dialog');

/** Resolves when the service sends the messages of a device to the page; messages of before are not shown. */
export const watchesDevice = (page: Page, deviceId: string): Promise<unknown> =>
  page.waitForResponse((answer) => decodeURIComponent(decodeURIComponent(answer.url())).includes(`device:${deviceId}`));

/** A dialog closes together with its page, and names its subject. */
async function dialogsGoWithTheirPage(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const [first, second] = [await world.registerDevice(), await world.registerDevice()];
  await watched.visit(`/console/devices/${first.deviceId}`);
  await watched.settled();
  await page.evaluate(
    `history.pushState(null, '', '${second.deviceId}'); dispatchEvent(new PopStateEvent('popstate'))`,
  );
  await page.getByRole('heading', { level: 1, name: second.deviceId }).waitFor();
  await page.getByRole('button', { name: 'Block', exact: true }).click();
  await dialogOf(page).getByText(`Block ${second.deviceId}?`).waitFor();
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: first.deviceId }).waitFor();
  await dialogOf(page).waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  t.match(await dialogOf(page).innerText(), first.deviceId);
  await page.keyboard.press('Escape');
  await dialogOf(page).waitFor({ state: 'detached' });
}

/** The keys lead to pages and rows, say what there is, and leave fields alone. */
async function keysLead(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  await world.registerDevice();
  await watched.visit('/console/devices');
  await page.getByRole('table').first().waitFor();
  await page.keyboard.press('?');
  const keys = dialogOf(page);
  await keys.getByText('Go to a page, or find something').waitFor();
  t.match(await keys.innerText(), /g\s+h\s+Health/);
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'detached' });
  const focused = (): Promise<string | undefined> =>
    page.evaluate(`document.activeElement?.getAttribute('href') ?? undefined`);
  await page.keyboard.press('j');
  const first = await focused();
  t.match(first, /^\/console\/devices\/\d+$/);
  await page.keyboard.press('j');
  t.not(await focused(), first);
  await page.keyboard.press('k');
  t.equal(await focused(), first);
  await page.keyboard.press('g');
  await page.keyboard.press('h');
  await page.getByRole('heading', { level: 1, name: 'Health' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('gd?');
  t.equal(await page.evaluate('document.activeElement.value'), 'gd?');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('table', { name: 'Settings' }).getByText('LAPEL_DATA_DIR').first().waitFor();
}

/** Above the queue of a device one reads why it waits, by what was seen of the device. */
async function queueSaysWhy(_: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const tenant = await world.createTenant('queue');
  const device = await world.activatedDevice(tenant);
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  const { packet } = await device.link.command();
  await watched.visit(`/console/devices/${device.deviceId}`);
  await page
    .getByText(/has been sent to the device, which is connected and has not acknowledged|have been sent/)
    .waitFor();
  device.link.puback(packet);
  await page.getByText(/has received 1 command, and has not answered yet/).waitFor();
  await device.link.drop();
  await page.getByText(/1 command waits for the device, which is offline; it was seen last/).waitFor();
}

/** One sees what a device reported over time, with the versions that changed, and compares versions. */
async function samplesAreSeen(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const tenant = await world.createTenant('over-time');
  const device = await world.activatedDevice(tenant);
  const report = async (body: object): Promise<void> => {
    device.link.publish('status', body);
    await device.link.next('puback');
  };
  await report({ firmwareVersion: '1.0', battery: { level: 80, charging: false } });
  await report({ firmwareVersion: '2.0' });
  // What it reported an hour and two hours ago, as the service stores it.
  const hour = Math.floor(world.clock.now() / 3_600_000_000);
  for (const [ago, level] of [
    [1, 84],
    [2, 90],
  ] as const)
    await (await world.raw()).all(
      `INSERT INTO device_samples (device_id, hour, battery, is_charging) VALUES ('${device.deviceId}', ${hour - ago}, ${level}, 0)`,
    );
  await watched.visit(`/console/devices/${device.deviceId}`);
  await page.getByRole('img', { name: 'Battery; now battery 80 %' }).waitFor();
  await page.getByRole('list', { name: 'Versions that changed' }).getByText('2.0').waitFor();
  await page.getByText('Not reported in this period: signal, free storage.').waitFor();
  t.equal(await page.getByText(/^Times in .*\.$/).count(), 1, 'the zone is said once');
  const period = page.getByRole('group', { name: 'Period' });
  for (const name of ['Week', 'Month', '3 months']) {
    await period.getByRole('button', { name, exact: true }).click();
    await period.locator('[aria-pressed=true]', { hasText: name }).waitFor();
    await page.getByRole('img', { name: /^Battery; now/ }).waitFor();
  }
  await page.getByRole('link', { name: 'Compare versions' }).click();
  await page.getByRole('heading', { level: 1, name: 'Compare versions' }).waitFor();
  await addFilter(page, 'Device begins with', device.deviceId);
  const row = page.getByRole('table', { name: 'Versions' }).getByRole('row', { name: /^1\.0/ });
  await row.getByText('6 %/h').waitFor();
}

/** A secret that is shown once stays visible until the user confirms that it is saved. */
async function secretsStay(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const { deviceId } = await world.registerDevice();
  await watched.visit('/console/devices');
  await watched.settled();
  await watched.visit(`/console/devices/${deviceId}`);
  await page.getByRole('button', { name: 'New credential' }).click();
  await dialogOf(page).getByRole('button', { name: 'Replace the credential' }).click();
  await dialogOf(page).getByText(`The new credential of ${deviceId}`).waitFor();
  const credential = await dialogOf(page).locator('.secret code').innerText();
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape');
  await page.evaluate(`history.pushState(null, '', '/console/audit'); dispatchEvent(new PopStateEvent('popstate'))`);
  await page.getByRole('heading', { level: 1, name: 'Audit log', includeHidden: true }).waitFor();
  t.match(await dialogOf(page).innerText(), credential);
  await dialogOf(page).getByRole('button', { name: 'I have saved it' }).click();
  await dialogOf(page).waitFor({ state: 'detached' });
  await world.connect({ deviceId, credential });
}

/** If the answer to an import never arrives, no credential is lost: all are in a file before the first is sent. */
async function brokenImport(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const file = join(world.dataDir, 'broken.csv');
  const ids = [deviceIdOf(7_000), deviceIdOf(7_001), deviceIdOf(7_002)];
  const own = 'c'.repeat(40);
  const rows = [`${ids[0]},"a, ""quoted"" name",`, `${ids[1]},,${own}`, `"${ids[2]}",,`];
  writeFileSync(file, ['deviceId,hardwareProperties.model.name,credential', ...rows, ''].join('\r\n'));
  await watched.visit('/console/developers/dev');
  await page.getByRole('button', { name: /Import/ }).click();
  const dialog = dialogOf(page);
  await dialog.locator('input[type=file]').setInputFiles(file);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  const kept = await (await download).path();
  const credentials = new Map(
    readFileSync(kept, 'utf8')
      .split('\n')
      .map((line) => [line.split(',')[0]?.replaceAll('"', ''), line.split(',').at(-1)]),
  );
  t.equal(credentials.get(ids[1]), own, 'one that was in the file stays');
  t.equal((await world.admin().get(`/admin/v1/devices/${ids[0]}`)).status, 404, 'nothing was sent yet');

  let arrived = 0;
  await page.route('**/import', async (route) => {
    arrived += 1;
    const headers = { 'content-type': 'text/csv' };
    const text = route.request().postData() ?? '';
    await world.admin().post('/admin/v1/developers/dev/devices/import', { headers, text });
    await route.abort();
  });
  await dialog.getByRole('button', { name: 'I have the file: import' }).click();
  await dialog.getByText('All credentials are in').waitFor();
  t.ok(watched.expected(/ERR_FAILED/));
  t.equal(arrived, 1);
  const deviceId = String(ids[2]);
  await world.connect({ deviceId, credential: String(credentials.get(deviceId)) });
  await page.unroute('**/import');
  await dialog.getByRole('button', { name: 'Try again' }).click();
  await dialog.getByText('3 devices registered, 0 faulty lines, 3 of 3 lines').waitFor();
  await dialog.getByRole('button', { name: 'Close' }).click();
}

/** Makes a page believe that it is hidden, or visible again. */
export const setHidden = (page: Page, hidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} });
    Object.defineProperty(document, 'visibilityState', { configurable: true, value: '${hidden ? 'hidden' : 'visible'}' });
    document.dispatchEvent(new Event('visibilitychange'));`);

/** A page that becomes visible again shows the current state. */
async function hiddenTab(_: Test, { tenant, watched, world }: Walk): Promise<void> {
  const { page } = watched;
  const { deviceId } = await world.registerDevice();
  await watched.visit('/console/transactions');
  await watched.settled();
  const words = page.locator('.live');
  await words.getByText('Live', { exact: true }).waitFor();
  await setHidden(page, true);
  await words.getByText('Paused').waitFor();
  const answer = await tenant.api.post(`${tenant.path}/devices/${deviceId}`, { json: {} });
  await setHidden(page, false);
  await words.getByText('Live', { exact: true }).waitFor();
  await page.getByLabel(`Select transaction ${transactionIdOf(answer)}`, { exact: true }).waitFor();

  const device = await world.activatedDevice(tenant);
  const watches = watchesDevice(page, device.deviceId);
  await watched.visit(`/console/devices/${device.deviceId}`);
  await watches;
  await words.getByText('Live', { exact: true }).waitFor();
  const messages = page.getByRole('log', { name: 'Messages' });
  device.link.publish('status', { lang: 'ja' });
  await messages.getByText('"ja"').waitFor();
  await setHidden(page, true);
  await words.getByText('Paused').waitFor();
  await setHidden(page, false);
  await messages.getByText('Messages are missing here').waitFor();
}

/** If a connection is slower than the interval of requests, the page shows the current state later. */
export async function slowLine(
  t: Test,
  { watched }: Walk,
  { transactionId }: { transactionId: number },
): Promise<void> {
  const { page } = watched;
  let answers = 0;
  await page.route(`**/admin/v1/transactions/${transactionId}`, async (route) => {
    const answer = await route.fetch();
    const json = (await answer.json()) as { webhook: object };
    answers += 1;
    if (answers === 1) json.webhook = { ...json.webhook, status: 'pending' };
    // Longer than the second after which the page asks again.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await route.fulfill({ response: answer, json }).catch(() => undefined);
  });
  await watched.visit(`/console/transactions/${transactionId}`);
  const webhook = page.getByRole('listitem').filter({ hasText: 'Webhook' });
  await webhook.getByText('delivered').waitFor();
  await page.unroute(`**/admin/v1/transactions/${transactionId}`);
  t.ok(answers > 1);
}

/** The user who uploads a file sees its faults there, and must confirm the replacement of a distributed version. */
export async function wrongFile(t: Test, page: Page, settled: () => Promise<void>): Promise<void> {
  const apk = (name: string): string => join(import.meta.dirname, '../../tools/demo/apks', name);
  await page
    .getByRole('button', { name: /^(Upload|Replace)$/ })
    .first()
    .click();
  const dialog = dialogOf(page);
  await dialog.locator('input[type=file]').setInputFiles(apk('camera-claims-1.2.0-embeds-9.9.9.apk'));
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await dialog
    .getByRole('alert')
    .getByText(/version name 9\.9\.9/)
    .waitFor();
  await dialog.getByRole('button', { name: 'Keep this file' }).click();
  await settled();
  await page.getByRole('row').getByText('the file has the version name 9.9.9.').waitFor();
  await page.goBack();
  const wrong = page.getByRole('region', { name: 'Files that do not match their version' });
  await wrong.getByText('the file has the version name 9.9.9.').waitFor();
  await wrong.getByRole('link').first().click();
  await settled();
  await page.getByRole('button', { name: 'Distribute' }).click();
  await dialog.getByRole('button', { name: 'Start distribution' }).click();
  await page.getByText('distributed', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Replace' }).click();
  await dialog.locator('input[type=file]').setInputFiles(apk('camera-1.0.0.apk'));
  await dialog.getByRole('button', { name: 'Upload' }).click();
  t.match(await page.evaluate('document.activeElement.name'), 'replaces', 'it asks');
  await dialog.getByLabel('Replace the file of the distributed version').check();
  await dialog.getByRole('button', { name: 'Upload' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** What is walked through in the console of the operator, by the fact that it shows. */
export const WALKS = {
  'a dialog goes with its page, and says what it is about': dialogsGoWithTheirPage,
  'a queue says why it waits': queueSaysWhy,
  'keys lead to pages and rows, and leave fields alone': keysLead,
  'what is shown once stays until somebody says that it is kept': secretsStay,
  'an import whose answer never comes costs no credential': brokenImport,
  'who looks again at a hidden page sees what is true now': hiddenTab,
  'a device is seen over time, and versions are compared': samplesAreSeen,
};
