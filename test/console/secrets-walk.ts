import type { Test } from 'tap';
import type { World } from '../world.ts';
import type { Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';

interface Walk {
  world: World;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** The operator issues another secret of an application, which is shown once, and ends the one of before. */
export async function secretsOfApplication(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const applicationId = 'changing';
  const json = { applicationId, name: 'changes its secret' };
  await world.admin().post('/admin/v1/developers/dev/applications', { json });
  const path = `/admin/v1/applications/${applicationId}/secrets`;
  const list = async () => (await world.admin().get(path)).body.secrets as { secretId: string; name: string | null }[];
  const [former = { secretId: '' }] = await list();
  await watched.visit(`/console/applications/${applicationId}`);
  await page.getByRole('row', { name: former.secretId }).waitFor();
  t.equal(await page.getByRole('button', { name: 'End', exact: true }).count(), 0, 'the only one cannot be ended');
  await page.getByRole('button', { name: 'Issue another' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(HOSTILE.image);
  await dialog.getByRole('button', { name: 'Issue', exact: true }).click();
  const secret = (await dialog.locator('.secret code').innerText()).trim();
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByText(HOSTILE.image).first().waitFor();
  t.ok((await world.tokenOf(applicationId, secret)).length > 0);

  await page.getByRole('row', { name: former.secretId }).getByRole('button', { name: 'End', exact: true }).click();
  await dialog.getByRole('button', { name: 'End it' }).click();
  await page.getByRole('row', { name: former.secretId }).waitFor({ state: 'detached' });
  t.match(await list(), [{ name: HOSTILE.image }]);
  await world.admin().delete(`/admin/v1/applications/${applicationId}`);
}
