import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { deviceIdOf, type Tenant, type World } from '../world.ts';
import type { Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';
import { addFilter } from './list-walks.ts';

interface Walk {
  world: World;
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** Every link of a page whose text is a number, or which contains one as its figure. */
const NUMBERS = `[...document.querySelectorAll('#page a[href]')].flatMap((link) => {
  const text = (link.querySelector('.value') ?? link).innerText.replaceAll(',', '').trim();
  return /^\\d{1,6}$/.test(text) ? [[link.href, Number(text), link.innerText.replaceAll('\\n', ' ')]] : [];
})`;

/** Milliseconds for which the service keeps the counts of the whole fleet. */
const COUNTS_KEPT = 10_000;

type Numbers = [href: string, number: number, words: string][];

async function rowsAt({ page, settled }: Watched, href: string): Promise<number> {
  await page.goto(href);
  await settled();
  return page.evaluate('document.querySelector("table.table")?.tBodies[0].rows.length ?? 0');
}

/** Each number that is a link leads to a list with as many rows as it says. There are more than `least`. */
export function countsLead(paths: readonly string[], least = 10) {
  return async (t: Test, { world, watched }: Walk): Promise<void> => {
    const { page } = watched;
    const seen = new Set<string>();
    for (const path of paths) {
      await watched.visit(`/console/${path}`);
      await watched.settled();
      for (const [href, number, words] of await page.evaluate<Numbers>(NUMBERS)) {
        if (seen.has(href)) continue;
        seen.add(href);
        const rows = await rowsAt(watched, href);
        if (rows === number) continue;
        // It may have changed meanwhile, as the number of webhooks that wait does; a count of the fleet is kept for a time.
        world.clock.advance(COUNTS_KEPT);
        await watched.visit(`/console/${path}`);
        await watched.settled();
        const now = (await page.evaluate<Numbers>(NUMBERS)).find(([address]) => address === href);
        t.equal(await rowsAt(watched, href), now?.[1] ?? 0, `/${path}: ${words} leads to its rows`);
      }
    }
    t.ok(seen.size > least, `${seen.size} numbers`);
  };
}

/**
 * The console of an application says whose it is, and each number of its fleet leads to as many rows. Devices of others
 * are not among them.
 */
export async function ownFleetLeads(t: Test, walk: Walk, [own, stranger]: readonly [string, string]): Promise<void> {
  const { page } = walk.watched;
  await page.getByRole('link', { name: 'Devices', exact: true }).click();
  await page.getByRole('row', { name: own }).waitFor();
  t.equal(await page.getByText(stranger).count(), 0);
  await page
    .getByRole('complementary')
    .getByText(/^dev of /)
    .waitFor();
  await countsLead([''], 5)(t, walk);
}

/** "Redeliver" of a receiver sends the deliveries of this receiver only, and says before how many they are. */
export async function ownReceiver(t: Test, { tenant, watched }: Walk): Promise<void> {
  const { page } = watched;
  const { deliveryId } = (await tenant.api.post(`${tenant.path}/webhooks/test`, { json: { setting: 'callEvent' } }))
    .body;
  /** Others of the fleet may be sent meanwhile. */
  const sent = async (): Promise<void> => {
    while ((await tenant.receiver.next()).headers['webhook-id'] !== deliveryId);
  };
  await sent();
  await watched.visit('/console/webhooks');
  const row = page.getByRole('row').filter({ hasText: tenant.applicationId }).filter({ hasText: 'callEvent' });
  await row.getByRole('button', { name: 'Redeliver' }).click();
  const dialog = page.getByRole('dialog');
  t.equal(await dialog.getByLabel('Setting').inputValue(), 'callEvent');
  await dialog.getByText('No delivery matches.').waitFor();
  await dialog.getByLabel('State').selectOption('delivered');
  await dialog.getByText('1 delivery will be sent again.').waitFor();
  await dialog.getByRole('button', { name: 'Send again' }).click();
  await page.getByText('1 delivery sent again.').waitFor();
  await sent();
}

/** Times are shown in the zone of the browser or in UTC, everywhere the same, and say which. */
export async function zones(t: Test, { watched }: Walk): Promise<void> {
  const { page } = watched;
  const times = async (): Promise<string[]> => {
    await page.locator('#page time').first().waitFor();
    return page.locator('#page td time').allInnerTexts();
  };
  await watched.visit('/console/audit');
  t.ok(
    (await times()).every((time) => /\d\d:\d\d:\d\d (UTC|GMT\S*|[A-Z]{3,4})$/.test(time)),
    'each says its zone',
  );
  const other = await watched.context.newPage();
  await other.goto('/console/audit');
  await other.locator('#page td time').first().waitFor();
  await page.getByRole('button', { name: 'Show UTC' }).click();
  t.ok((await times()).every((time) => time.endsWith(' UTC')));
  await other.getByText('Times in UTC', { exact: true }).waitFor();
  await watched.visit('/console/');
  await page.locator('.plot').or(page.getByText('The history has just begun')).first().waitFor();
  await page.getByText('Times in UTC', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Show local time' }).click();
  await other.getByRole('button', { name: 'Show UTC' }).waitFor();
  await other.close();

  const { context } = watched;
  const options = { timezoneId: 'UTC', storageState: await context.storageState(), baseURL: page.url() };
  const abroad = await context.browser()!.newContext(options);
  const third = await abroad.newPage();
  await third.goto('/console/audit');
  await third.getByText('Times in UTC', { exact: true }).waitFor();
  t.equal(await third.getByRole('button', { name: /Show (UTC|local)/ }).count(), 0, 'where local time is UTC');
  await abroad.close();
}

/** Devices are imported from a file; faulty lines are named, all of them are a file, and credentials are saved once. */
export async function faultyImport(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const file = join(world.dataDir, 'devices.csv');
  const lines = Array.from({ length: 20 }, (_, index) => deviceIdOf(5_000 + index));
  lines.splice(5, 1, 'no device');
  lines.splice(15, 1, HOSTILE.image.replaceAll('"', "'"));
  writeFileSync(file, ['deviceId', ...lines, ''].join('\n'));
  await watched.visit('/console/developers/made-here');
  await page.getByRole('button', { name: /Import/ }).click();
  const dialog = page.getByRole('dialog');
  await dialog.locator('input[type=file]').setInputFiles(file);
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Continue' }).click();
  t.match((await download).suggestedFilename(), /^devices-with-credentials-.*\.csv$/);
  await dialog.getByRole('button', { name: 'I have the file: import' }).click();
  await dialog.getByText('18 devices registered, 2 faulty lines, 20 of 20 lines').waitFor();
  await dialog.getByText('line 7').waitFor();
  const faulty = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Save all faulty lines as a file' }).click();
  const [head, ...rows] = readFileSync(await (await faulty).path(), 'utf8')
    .trim()
    .split('\r\n');
  t.equal(head, 'line,deviceId,error');
  t.same(
    rows.map((row) => row.split(',')[0]),
    ['7', '17'],
  );
  await dialog.getByRole('button', { name: 'Close' }).click();
}

/** Resolves when the page is scrolled to a place. */
const isScrolled = (page: Page, to: number): Promise<unknown> =>
  page.evaluate(`new Promise((resolve) => {
    const look = () => (scrollY === ${to} ? resolve() : requestAnimationFrame(look));
    look();
  })`);

/** Back restores the filters of a list, and how far it was scrolled. */
export async function backRestores(t: Test, { watched }: Walk): Promise<void> {
  const { page } = watched;
  await page.setViewportSize({ width: 1280, height: 300 });
  await watched.visit('/console/audit');
  await addFilter(page, 'Resource', 'DEVELOPERS');
  await page.getByText('Resource: DEVELOPERS').waitFor();
  const link = page.locator('tbody a').last();
  await link.scrollIntoViewIfNeeded();
  const before = await page.evaluate<number>('scrollY');
  t.ok(before > 100, 'the list is longer than the window');
  await link.click();
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor({ state: 'detached' });
  await isScrolled(page, 0);
  await page.goBack();
  await page.getByText('Resource: DEVELOPERS').waitFor();
  await isScrolled(page, before);
  await page.setViewportSize({ width: 1280, height: 800 });
}

/** An identifier is copied whole, also with the keyboard. */
export async function copied(t: Test, { tenant, watched }: Walk): Promise<void> {
  const { page, context } = watched;
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const clipboard = (): Promise<string> => page.evaluate('navigator.clipboard.readText()');
  await watched.visit(`/console/applications/${tenant.applicationId}`);
  await watched.settled();
  await page.getByRole('button', { name: `Copy ${tenant.developerId}`, exact: true }).click();
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  t.equal(await clipboard(), tenant.developerId);
  await watched.visit('/console/devices');
  const link = page.locator('tbody tr').first().getByRole('link').first();
  await link.focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Copied' }).waitFor();
  t.equal(await clipboard(), await link.innerText());
}
