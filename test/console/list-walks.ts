import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import { pagesOf } from '../pages.ts';
import type { World } from '../world.ts';
import type { Watched } from './browser.ts';

interface Walk {
  world: Pick<World, 'admin'>;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** A list is saved whole as a file, with its filters, and the texts of others stay texts in a spreadsheet. */
export async function savedAsCsv(t: Test, { world, watched }: Walk): Promise<void> {
  const { page, settled } = watched;
  const admin = world.admin();
  const save = async (): Promise<string[]> => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save as CSV' }).first().click();
    const file = await download;
    const text = await readFile((await file.path()) ?? '', 'utf8');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    return text.trimEnd().split('\r\n');
  };
  const devices = (await pagesOf<{ deviceId: string }>(admin, '/admin/v1/devices', 'devices')).flat();
  await watched.visit('/console/devices');
  await settled();
  const [names, ...rows] = await save();
  t.equal(
    names,
    'deviceId,developerId,applicationId,activation,blocked,connected,lastSeenAt,firmware,battery,unfinished,tags',
  );
  t.same(rows.map((row) => row.slice(0, 15)).sort(), devices.map(({ deviceId }) => deviceId).sort());
  await watched.visit('/console/devices?activation=activated');
  await settled();
  const activated = (await pagesOf(admin, '/admin/v1/devices?activation=activated', 'devices')).flat().length;
  t.equal((await save()).length, activated + 1, 'with the filters of the list');
  for (const [path, first] of [
    ['transactions', 'transactionId'],
    ['rollouts', 'rolloutId'],
    ['device-actions', 'actionId'],
    ['audit', 'auditId'],
    ['webhooks', 'applicationId'],
    ['webhooks?log=all', 'deliveryId'],
    ['software', 'line'],
    ['developers', 'developerId'],
  ] as const) {
    await watched.visit(`/console/${path}`);
    await settled();
    const lines = await save();
    t.match(lines[0], new RegExp(`^${first},`), path);
    t.ok(lines.length > 1, `${path} has rows`);
  }
}

/** Filters are kept under a name in this browser; the palette finds pages, views, actions and devices by keyboard. */
export async function viewsAndPalette(t: Test, { world, watched }: Walk): Promise<void> {
  const { page, settled } = watched;
  await watched.visit('/console/devices?activation=activated&firmware=8');
  await settled();
  await page.getByRole('button', { name: 'Save this view' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('<b>Old</b> firmware');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await watched.visit('/console/devices');
  const views = page.getByRole('group', { name: 'Saved views' });
  await views.getByRole('link', { name: '<b>Old</b> firmware' }).click();
  await page.waitForURL('**/devices?activation=activated&firmware=8');
  await settled();
  t.same(await watched.axe(), [], 'saved views keep nobody out');

  const [device] = (await world.admin().get('/admin/v1/devices?limit=1')).body.devices;
  const palette = page.getByRole('dialog', { name: 'Go to, or do' });
  const choose = async (text: string, option: string): Promise<void> => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('combobox').waitFor();
    await page.keyboard.type(text);
    await palette.getByRole('option', { name: option, selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await palette.waitFor({ state: 'hidden' });
  };
  await choose(device.deviceId, device.deviceId);
  await page.waitForURL(`**/devices/${device.deviceId}`);
  await choose('audit', 'Audit log');
  await page.waitForURL('**/console/audit');
  await choose('old</b>', '<b>Old</b> firmware');
  await page.waitForURL('**/devices?activation=activated&firmware=8');
  await settled();
  await page.keyboard.press('Control+k');
  await palette.getByRole('combobox').waitFor();
  await page.keyboard.press('ArrowDown');
  await palette.getByRole('option', { name: 'Devices', selected: true }).waitFor();
  t.same(await watched.axe(), [], 'the palette keeps nobody out');
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'hidden' });
  await views.getByRole('button', { name: /Forget the view/ }).click();
  await views.getByRole('link').waitFor({ state: 'detached' });
  t.same(await page.evaluate('Object.keys(localStorage)'), [], 'a forgotten view leaves nothing');
}

/** Adds a filter into which one types, and applies it. */
export async function addFilter(page: Page, label: string, text: string): Promise<void> {
  const filters = page.getByRole('search', { name: 'Filters' }).last();
  await filters.getByRole('button', { name: /^\+ / }).click();
  const offered = filters.getByRole('button', { name: label, exact: true });
  const field = filters.getByRole('textbox');
  await offered.or(field).first().waitFor();
  if (await offered.isVisible()) await offered.click();
  await field.fill(text);
  await filters.getByRole('button', { name: 'Apply' }).click();
}

/** Filters are added, changed and removed by keyboard alone, and the focus stays at what was changed. */
export async function filtersByKeyboard(t: Test, { watched }: { watched: Watched }): Promise<void> {
  const { page, settled } = watched;
  const has = (text: string): Promise<void> =>
    page
      .locator(':focus')
      .and(page.getByText(text, { exact: true }))
      .waitFor();
  const press = async (...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };
  await watched.visit('/console/transactions');
  await settled();
  const filters = page.getByRole('search', { name: 'Filters' });
  await filters.getByRole('button', { name: '+ filter' }).focus();
  await press('Enter');
  await has('Unfinished');
  t.same(await watched.axe(), [], 'the list of filters keeps nobody out');
  await press('ArrowDown', 'ArrowDown');
  await has('State');
  await press('Enter');
  await has('queued');
  await press('Tab', 'Tab', 'Tab', 'Tab');
  await has('failed');
  await press('Enter');
  await has('State: failed');
  t.match(page.url(), /\?status=failed$/);

  await filters.getByRole('button', { name: '+ filter' }).click();
  await filters.getByRole('button', { name: 'Until', exact: true }).click();
  const until = filters.getByLabel(/^Until, a time in (CET|GMT\+1)$/);
  await until.fill('2031-01-02T03:04');
  t.same(await watched.axe(), [], 'a field for a time keeps nobody out');
  await press('Enter');
  await has('Until: 02 Jan 2031, 03:04:00 CET');
  t.equal(new URL(page.url()).searchParams.get('until'), '2031-01-02T02:04:00.000Z');
  await press('Enter');
  await until.waitFor();
  t.equal(await until.inputValue(), '2031-01-02T03:04', 'it is changed from where it was');
  await press('Escape');
  await has('Until: 02 Jan 2031, 03:04:00 CET');

  await filters.getByRole('button', { name: 'Remove the filter State' }).focus();
  await press('Enter');
  await has('+ filter');
  await page.goBack();
  await watched.visit('/console/transactions?status=failed&operation=setWifi');
  await filters.getByRole('button', { name: 'Clear all' }).click();
  await has('+ filter');
  t.match(page.url(), /\/transactions$/);
}

/** Columns of a list are hidden, also after the page is loaded again, and shown again. */
export async function columnsChosen(t: Test, { watched }: { watched: Watched }): Promise<void> {
  const { page, settled } = watched;
  const table = page.getByRole('table', { name: 'Devices' });
  const heads = (): Promise<string[]> => table.getByRole('columnheader').allInnerTexts();
  const choose = async (name: string, isShown: boolean): Promise<void> => {
    await page.getByRole('button', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog');
    t.same(await watched.axe(), [], 'the choice keeps nobody out');
    await dialog.getByLabel(name, { exact: true }).setChecked(isShown);
    await dialog.getByRole('button', { name: 'Show these' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await watched.visit('/console/devices');
  await settled();
  const all = await heads();
  t.ok(all.includes('Firmware'));
  await choose('Firmware', false);
  await page.reload();
  await settled();
  t.same(
    await heads(),
    all.filter((name) => name !== 'Firmware'),
  );
  t.ok(await table.locator('td[data-label=Battery]').first().isVisible());
  t.equal(await table.locator('td[data-label=Firmware]').count(), 0);
  await choose('Firmware', true);
  t.same(await heads(), all);
  t.same(await page.evaluate('Object.keys(localStorage)'), [], 'what is usual is not kept');
}

/** The head of a column turns the order of a list round, also by keyboard, and says the order to a screen reader. */
export async function sortedByHead(t: Test, { watched }: Walk): Promise<void> {
  const { page } = watched;
  await watched.visit('/console/transactions');
  const list = page.getByRole('table', { name: 'Transactions' });
  const head = (order: 'ascending' | 'descending') => list.locator(`th[aria-sort="${order}"]`);
  const idsOf = async (): Promise<number[]> =>
    (await list.locator('tbody tr td.lead .id').allInnerTexts()).map((text) => Number.parseInt(text, 10));
  await head('descending').getByRole('button', { name: 'Created ↓' }).focus();
  const newest = await idsOf();
  await page.keyboard.press('Enter');
  await head('ascending').getByRole('button', { name: 'Created ↑' }).waitFor();
  await page.getByRole('heading', { name: 'Oldest first' }).waitFor();
  const first = list.locator('tbody tr:first-child td.lead .id');
  await first.filter({ hasText: String(newest[0]) }).waitFor({ state: 'detached' });
  const oldest = await idsOf();
  t.same(
    oldest,
    oldest.toSorted((one, other) => one - other),
  );
  t.match(page.url(), /\?sort=createdAt$/);
  await head('ascending').getByRole('button').click();
  await head('descending').waitFor();
  t.notMatch(page.url(), /sort/, 'the usual order needs no word in the address');
  await watched.visit('/console/transactions?status=failed&sort=createdAt');
  await page.getByRole('heading', { name: 'Failures, the last one first' }).waitFor();
  t.equal(await list.getByRole('button', { name: /^Created/ }).count(), 0, 'failures come by their ends');
  await watched.visit('/console/devices');
  const devices = page.getByRole('table', { name: 'Devices' });
  await devices.getByRole('button', { name: 'Last seen' }).click();
  await devices.locator('th[aria-sort="descending"]').getByRole('button', { name: 'Last seen ↓' }).waitFor();
}
