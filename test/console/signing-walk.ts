import type { Test } from 'tap';
import { createKeyPair } from '../software/signing.ts';
import type { World } from '../world.ts';
import type { Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';

interface Walk {
  world: World;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** The operator adds a software key, requires signatures, and revokes the key; its name is shown as text. */
export async function softwareKeys(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const { keyId, publicKey } = createKeyPair();
  const path = '/admin/v1/developers/dev';
  const keysOf = async () => (await world.admin().get(`${path}/software-keys`)).body.keys as { keyId: string }[];
  await watched.visit('/console/developers/dev');
  await page.getByRole('button', { name: 'Add a key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill(HOSTILE.image);
  await dialog.getByLabel('Public key').fill(publicKey);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  const row = page.getByRole('row', { name: keyId });
  await row.getByText(HOSTILE.image).waitFor();
  t.match(await keysOf(), [{ keyId, name: HOSTILE.image }]);

  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByLabel('Signatures of software').selectOption('required');
  await dialog.getByRole('button', { name: 'Change', exact: true }).click();
  await page.getByText('required', { exact: true }).waitFor();
  t.match((await world.admin().get(path)).body, { softwareSignatures: 'required', certificateChange: 'warn' });

  await row.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('textbox').fill(keyId);
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('No software keys').waitFor();
  t.same(await keysOf(), []);
  await world.admin().patch(path, { json: { softwareSignatures: 'optional' } });
}
