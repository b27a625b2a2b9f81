import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import type { Tenant } from '../world.ts';

interface Walk {
  tenant: Tenant;
  /** The page of the application, which may make changes. */
  page: Page;
}

const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console/${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );

/** Tags are changed, added and removed on the page of the device, and lead to the devices that have them. */
export async function tagsAreEdited(t: Test, { tenant, page }: Walk, deviceId: string): Promise<void> {
  await goTo(page, `devices/${deviceId}`);
  await page.getByRole('heading', { level: 1, name: deviceId }).waitFor();
  await page.getByRole('region', { name: 'Tags' }).getByRole('button', { name: 'Edit' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Value of site').fill('kyoto');
  await dialog.getByRole('button', { name: 'Remove note' }).click();
  await dialog.getByRole('button', { name: 'Add a tag' }).click();
  await dialog.getByLabel('Key').last().fill('site');
  await dialog.getByLabel('Value', { exact: true }).fill('a, b');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText('The key site is there twice.').waitFor();
  await dialog.getByLabel('Key').last().fill('ring');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { body } = await tenant.api.get(`${tenant.path}/devices/${deviceId}/tags`);
  t.same(body, { site: 'kyoto', ring: 'a, b' });
  await page.getByRole('link', { name: 'a, b' }).click();
  await page.getByText('Tags: ring=a, b').waitFor();
  await page.getByRole('row', { name: deviceId }).getByRole('link', { name: 'site=kyoto' }).waitFor();
  await page.getByLabel('Tags').first().fill('site=kyoto, !ring');
  await page.getByText('No matching devices').waitFor();
}
