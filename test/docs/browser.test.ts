import { chromium } from 'playwright-core';
import t from 'tap';
import { CHROMIUM, missing } from '../installed.ts';
import { startWorld } from '../world.ts';

const skip = missing.browser();

const OP_1 = '#operations-Applications-get-v1-applications';

t.test('the reference in a browser', { skip }, async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const base = world.service.addresses.http;
  // The browser's own sandbox is off, because root cannot have it; the pages are our own.
  const browser = await chromium.launch({ executablePath: String(CHROMIUM), args: ['--no-sandbox'] });
  t.teardown(() => browser.close());

  // Errors in the page's log, requests to other servers, and violations of its policy.
  const faults: string[] = [];
  const page = await browser.newPage({ colorScheme: 'light', baseURL: base });
  page.setDefaultTimeout(15_000);
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('requestfailed', (request) => faults.push(`failed: ${request.url()}`));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${base}/`) && !request.url().startsWith('data:'))
      faults.push(`asks ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.url()}`);
  });
  await page.exposeFunction('onViolation', (what: string) => faults.push(`policy: ${what}`));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => onViolation(event.violatedDirective))`,
  );
  const colourOf = (selector: string, property: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${property}')`);

  await t.test('operations are grouped in the order of the document, and an address opens one of them', async (t) => {
    await page.goto('/docs#/Applications/get-v1-applications');
    await page.locator(`${OP_1} .opblock-body`).waitFor();
    t.equal(await page.title(), 'Lapel API reference');
    const tags = await page.locator('.opblock-tag').evaluateAll((nodes) => nodes.map((node) => node.dataset['tag']));
    const { body } = await world.anonymous().get('/openapi.json');
    t.same(
      tags,
      body.tags.map(({ name }: { name: string }) => name),
    );
    t.same(faults, []);
  });

  await t.test('id and secret become a token, and the token the settings of the application', async (t) => {
    await page.locator('.scheme-container .authorize').click();
    const dialog = page.locator('.auth-container');
    await dialog.getByLabel('client_id').fill(tenant.applicationId);
    await dialog.getByLabel('client_secret').fill(tenant.secret);
    const token = page.waitForResponse('**/api/v1/authenticate');
    await dialog.getByRole('button', { name: 'Apply given OAuth2 credentials' }).click();
    t.match(await (await token).json(), { token_type: 'bearer', scope: 'svc:application:read svc:device:read' });
    await dialog.getByRole('button', { name: 'Close' }).click();

    const operation = page.locator(OP_1);
    await operation.getByPlaceholder('applicationId').fill(tenant.applicationId);
    const answer = page.waitForResponse(`**${tenant.path}`);
    await operation.getByRole('button', { name: 'Execute' }).click();
    t.equal((await answer).status(), 200);
    const shown = operation.locator('.live-responses-table');
    await shown.locator('.response-col_status', { hasText: '200' }).waitFor();
    t.ok((await shown.innerText()).includes(`"authenticationKey": "${tenant.authenticationKey}"`));
    t.same(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })'), [], 'nothing of it is kept');
    t.same(faults, []);
  });

  await t.test('light and dark follow the reader, also while the page is open', async (t) => {
    const light = await colourOf('html', 'background-color');
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.waitForSelector('html.dark-mode');
    const dark = await colourOf('html', 'background-color');
    t.not(dark, light);
    t.not(await colourOf('.opblock-tag', 'color'), dark, 'what is written can be read');
    await page.emulateMedia({ colorScheme: 'light' });
    await page.waitForSelector('html:not(.dark-mode)');
    t.equal(await colourOf('html', 'background-color'), light);
    t.same(faults, []);
  });

  await t.test('the other pages can be reached by links, and their policy refuses nothing', async (t) => {
    await page.getByRole('link', { name: 'Devices and webhooks' }).click();
    await page.locator('#recordingSaved summary').click();
    await page.locator('#recordingSaved').getByText('data.connections[].movieFile').waitFor();
    await page.getByRole('link', { name: 'Deprecations' }).click();
    await page.getByRole('row', { name: 'webmFile' }).waitFor();
    t.same(faults, []);
  });
});
