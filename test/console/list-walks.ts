import { readFile } from 'node:fs/promises';
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
