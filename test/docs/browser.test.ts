import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { NEWEST_RELEASE } from '@lapel/schemas/contracts/deprecations';
import { chromium } from 'playwright-core';
import t from 'tap';
import { writeSite } from '../../src/edge/docs/folder.ts';
import { findLowContrast, findViolations } from '../accessibility.ts';
import { CHROMIUM, missing } from '../installed.ts';
import { startWorld } from '../world.ts';

const skip = missing.browser();

/** Milliseconds that a step may take: a machine may be busy. */
const PATIENCE_MS = 60_000;

t.test('the documents in a browser', { skip }, async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const base = world.service.addresses.http;
  // The browser's own sandbox is off, because root cannot have it; the pages are our own.
  const browser = await chromium.launch({ executablePath: String(CHROMIUM), args: ['--no-sandbox'] });
  t.teardown(() => browser.close());

  // Errors in the page's log, requests to other servers, and violations of its policy.
  const faults: string[] = [];
  const page = await browser.newPage({ colorScheme: 'light', baseURL: base });
  page.setDefaultTimeout(PATIENCE_MS);
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
  // Safari cannot walk through a stream with `for await`.
  await page.addInitScript('delete ReadableStream.prototype[Symbol.asyncIterator]');
  const colourOf = (selector: string, property: string): Promise<string> =>
    page.evaluate(`getComputedStyle(document.querySelector('${selector}')).getPropertyValue('${property}')`);

  await t.test('id and secret become a token, and the token the settings of the application', async (t) => {
    await page.goto('/docs/api-applications');
    const operation = page.locator('#readSettings');
    await operation.getByText('Try it').click();
    await operation.getByLabel('applicationId').fill(tenant.applicationId);
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation.getByText('Get a token first, at the top of this page.').waitFor();

    const form = page.locator('#token');
    await form.getByLabel('client_id').fill(tenant.applicationId);
    await form.getByLabel('client_secret').fill(tenant.secret);
    await form.getByLabel('scope').fill('svc:application:read');
    const token = page.waitForResponse('**/api/v1/authenticate');
    await form.getByRole('button', { name: 'Get a token' }).click();
    t.match(await (await token).json(), { token_type: 'bearer', scope: 'svc:application:read' });
    await form.getByText('This page has a token for 60 minutes.').waitFor();

    const answer = page.waitForResponse(`**${tenant.path}`);
    await operation.getByRole('button', { name: 'Send' }).click();
    t.equal((await answer).status(), 200);
    await operation.getByText('200 OK').waitFor();
    const shown = operation.locator('.answer');
    await shown.getByText('authenticationKey').waitFor();
    t.ok((await shown.innerText()).includes(`"authenticationKey": "${tenant.authenticationKey}"`));
    t.equal(await operation.locator('.sent').innerText(), `GET ${base}${tenant.path}`);
    t.same(await page.evaluate('Object.keys({ ...localStorage, ...sessionStorage })'), [], 'nothing of it is kept');
    t.same(faults, []);
  });

  await t.test('a body that is refused is told with its field, and a numeral is shown as it came', async (t) => {
    const operation = page.locator('#updateSettings');
    await operation.getByText('Try it').click();
    t.equal(await operation.getByLabel('applicationId').inputValue(), tenant.applicationId, 'the id of the token');
    const body = operation.getByLabel('Body');
    t.type(JSON.parse(await body.inputValue()), 'object', 'the example of the document');
    await body.fill('{"nobody":1}');
    await operation.getByRole('button', { name: 'Send' }).click();
    await operation.getByText('403 Forbidden').waitFor();
    const stop = operation.getByRole('button', { name: 'Stop' });
    await stop.waitFor({ state: 'hidden' });
    faults.splice(0);
    const large = '{"large":12345678901234567890}';
    const answers = Promise.withResolvers<void>();
    let requests = 0;
    await page.route('**/v1/applications/**', async (route) => {
      requests += 1;
      await answers.promise;
      await route.fulfill({ contentType: 'application/json', body: large });
    });
    await operation.getByRole('button', { name: 'Send' }).dblclick();
    await stop.waitFor();
    answers.resolve();
    await operation.getByText(large).waitFor();
    t.equal(requests, 1, 'a double click makes one call');
    await page.unroute('**/v1/applications/**');
    t.same(faults, []);
  });

  await t.test('light and dark follow the reader, also while the page is open', async (t) => {
    const light = await colourOf('html', 'background-color');
    await page.emulateMedia({ colorScheme: 'dark' });
    t.not(await colourOf('html', 'background-color'), light);
    await page.emulateMedia({ colorScheme: 'light' });
    t.equal(await colourOf('html', 'background-color'), light);
    t.same(faults, []);
  });

  await t.test('the search shows first what fits best, titles and guides above all, by keyboard', async (t) => {
    await page.goto('/docs');
    for (const [words, address] of [
      ['token_inv', '/docs/errors#TOKEN_INVALID'],
      ['startRollout', '/docs/api-rollouts#startRollout'],
      ['recordingSaved', '/docs/events#recordingSaved'],
      ['LAPEL_RESERVED_PACKAGE_PREFIX', '/docs/reference#advanced-settings'],
      ['in which zone is the window of a rollout?', '/docs/rollouts#windows-and-time-zones'],
      ['idempotency key', '/docs/idempotency'],
      ['IDEMPOTENCY_KEY_REUSED', '/docs/errors#IDEMPOTENCY_KEY_REUSED'],
      ['how long are transactions kept?', '/docs/application-developers#how-long-things-are-kept'],
      ['paging unheardof', '/docs/paging'],
    ] as const) {
      await page.keyboard.press('/');
      await page.keyboard.type(words);
      await page.locator('#found [aria-selected=true]').waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`**${address}`);
      const [, anchor = 'main'] = address.split('#');
      t.equal(await page.locator(`[id="${anchor}"]`).count(), 1, address);
    }
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.keyboard.press('/');
    await page.keyboard.type('<b>zzqqxy</b>');
    await page.getByText('Nothing found.').waitFor();
    t.equal(await page.locator('#found b').count(), 0);
    t.same(asked.sort(), [`${base}/docs/search-index.js`, `${base}/docs/search.js`], 'a key asks the service nothing');
    t.same(faults, []);
  });

  await t.test('a language that is chosen for one call is shown for all', async (t) => {
    await page.goto('/docs/api-devices');
    const shown = () => page.locator('.samples pre:visible').allInnerTexts();
    t.ok((await shown()).every((text) => text.startsWith('curl ')));
    await page.locator('#activate').getByText('TypeScript').click();
    t.ok((await shown()).every((text) => text.includes('await lapel.')));
    t.equal(await page.locator('.samples').count(), (await shown()).length, 'one sample of each call');
    t.same(faults, []);
  });

  await t.test('without a script all pages can be read, and no page is wider than a phone', async (t) => {
    const phone = await browser.newPage({
      javaScriptEnabled: false,
      baseURL: base,
      viewport: { width: 390, height: 844 },
    });
    await phone.goto('/docs');
    const links = await phone.locator('nav.pages a').evaluateAll((all) => all.map((one) => one.getAttribute('href')));
    t.ok(links.length >= 30);
    for (const link of links) {
      await phone.goto(new URL(String(link), `${base}/docs`).href);
      t.ok((await phone.locator('main').innerText()).length > 200, String(link));
      t.equal(await phone.evaluate('document.documentElement.scrollWidth'), 390, String(link));
    }
    await phone.goto('/docs/api-rollouts#startRollout');
    t.ok((await phone.locator('#startRollout').getByText('lapel rollout start').isVisible()) === false);
    await phone.locator('#startRollout').getByText('Command line').click();
    t.ok(
      await phone.locator('#startRollout').getByText('lapel rollout start').isVisible(),
      'the choice needs no script',
    );
    await phone.close();
  });

  await t.test('a text with too little contrast is found among many that look the same otherwise', async (t) => {
    const odd: Record<number, [row: string, cell: string]> = {
      7: ['', 'color: #bbb'],
      11: ['background: #333', ''],
      15: ['opacity: 0.4', ''],
    };
    const rows = Array.from({ length: 30 }, (_, index) => {
      const [row, cell] = odd[index] ?? ['', ''];
      return `<tr style="${row}"><td>first ${index}</td><td style="${cell}">second ${index}</td></tr>`;
    });
    const table = await browser.newPage();
    await table.setContent(`<!doctype html><html lang="en"><title>x</title><table>${rows.join('')}</table></html>`);
    const found = await findLowContrast(table);
    const cells = found.map((one) => />(\w+ \d+)</.exec(one)?.[1]);
    t.same(cells, ['second 7', 'first 11', 'first 15'], 'cells of a row that look the same are named once');
    await table.close();
  });

  await t.test('the pages have no fault of accessibility, in light and dark', async (t) => {
    for (const path of ['/docs', '/docs/api', '/docs/api-devices', '/docs/events', '/docs/devices', '/docs/errors']) {
      await page.goto(path);
      t.same(await findViolations(page), [], path);
    }
    await page.emulateMedia({ colorScheme: 'dark' });
    for (const path of ['/docs/errors', '/docs/api-devices']) {
      await page.goto(path);
      t.same(await findLowContrast(page), [], `${path} in the dark`);
    }
    await page.emulateMedia({ colorScheme: 'light' });
    t.same(faults, []);
  });

  await t.test('in a folder the same pages work without a server', async (t) => {
    const folder = t.testdir();
    await writeSite(folder, {
      apiRelease: NEWEST_RELEASE,
      timeZone: 'Asia/Tokyo',
      publicUrl: 'https://lapel.example',
      mqttUrls: ['mqtts://lapel.example:8883'],
    });
    const file = await browser.newPage();
    const broken: string[] = [];
    file.on('requestfailed', (request) => broken.push(request.url()));
    await file.goto(`file://${folder}/index.html`);
    await file.keyboard.press('/');
    await file.keyboard.type('token_invalid');
    await file.locator('#found [aria-selected=true]').waitFor();
    await file.keyboard.press('Enter');
    await file.waitForURL('file:///**/errors.html#TOKEN_INVALID');
    const names = new Set(readdirSync(folder));
    for (const name of names) {
      if (!name.endsWith('.html')) continue;
      for (const [, link = ''] of readFileSync(join(folder, name), 'utf8').matchAll(/(?:href|src)="([^"#:]+)[^":]*"/g))
        t.ok(names.has(link), `${name} ${link}`);
    }
    t.same(broken, []);
    await file.close();
  });
});
