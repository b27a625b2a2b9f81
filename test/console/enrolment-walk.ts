import type { Test } from 'tap';
import { newRequest } from '../enrolment/device-keys.ts';
import { deviceIdOf, type World } from '../world.ts';
import type { Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';

const NONCE = 'a secret that the device keeps';

/** Makes a batch with a name of somebody hostile; resolves to its batchId. */
export async function hostileBatch(world: World, name: string): Promise<string> {
  const json = { name, expiresAt: '2027-01-01T00:00:00Z', mostDevices: 2 };
  return (await world.admin().post('/admin/v1/developers/dev/enrolment-batches', { json })).body.batchId;
}

/** The operator makes a code, approves one of two devices that ask with it, refuses the other, and revokes the code. */
export async function enrolmentByPerson(
  t: Test,
  { world, watched }: { world: World; watched: Watched },
): Promise<void> {
  const { page, settled, expected } = watched;
  const [good, bad] = [deviceIdOf(8_100), deviceIdOf(8_101)];
  const ask = async (deviceId: string, code: string): Promise<number> =>
    (await world.anonymous().post('/v1/enrolments', { json: { deviceId, code, nonce: NONCE } })).status;
  await watched.visit('/console/developers/dev');
  await page.getByRole('link', { name: 'Codes for new devices' }).click();
  await page.getByRole('heading', { level: 1, name: 'Enrolment' }).waitFor();
  await page.getByRole('button', { name: 'New batch' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('line 2');
  await dialog.getByLabel('Most devices').fill('5');
  await dialog.getByLabel('Valid for days').fill('999');
  await dialog.getByLabel('Approval').selectOption('manual');
  await dialog.getByLabel('Only these deviceIds').fill(`${good}, ${bad}`);
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  await dialog.getByText(/in the next 366 days/).waitFor();
  t.ok(expected(/400/), 'the service refused it');
  await dialog.getByLabel('Valid for days').fill('9');
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  await dialog.getByText('The code of the batch').waitFor();
  const code = await dialog.locator('.secret code').innerText();
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1, name: 'line 2' }).waitFor();

  for (const deviceId of [good, bad]) t.equal(await ask(deviceId, code), 202);
  await page.reload();
  await settled();
  await page.getByRole('button', { name: `Approve ${good}` }).click();
  await page.getByRole('row', { name: good }).getByText('approved', { exact: true }).waitFor();
  await page.getByRole('button', { name: `Refuse ${bad}` }).click();
  await page.getByRole('row', { name: bad }).getByText('refused', { exact: true }).waitFor();
  t.same([await ask(good, code), await ask(bad, code)], [201, 403]);
  await page.goto(`${page.url()}?state=enrolled`);
  await page.getByRole('row', { name: good }).getByText('enrolled', { exact: true }).waitFor();
  t.equal(await page.getByRole('row', { name: bad }).count(), 0);
  await page.getByRole('button', { name: 'Revoke ...' }).click();
  await dialog.getByRole('button', { name: 'Revoke the code' }).click();
  await page.getByText('revoked', { exact: true }).first().waitFor();
}

/** An owner makes a device CA, and a batch whose devices get certificates of it; then retires and revokes the CA. */
export async function deviceCas(t: Test, { world, watched }: { world: World; watched: Watched }): Promise<void> {
  const { page } = watched;
  await watched.visit('/console/developers/dev/enrolment');
  const dialog = page.getByRole('dialog');
  const known = page.getByRole('table', { name: 'Device CAs' }).getByRole('row', { name: HOSTILE.image });
  await page.getByText('No device CAs').waitFor();
  await page.getByRole('button', { name: 'New device CA' }).click();
  await dialog.getByLabel('Name').fill(HOSTILE.image);
  await dialog.getByRole('button', { name: 'Make the CA' }).click();
  await known.getByText('active', { exact: true }).waitFor();

  await page.getByRole('button', { name: 'New batch' }).click();
  await dialog.getByLabel('Name').fill('line 3');
  await dialog.getByLabel('Most devices').fill('5');
  await dialog.getByLabel('Devices get').selectOption({ index: 1 });
  await dialog.getByLabel('Certificates valid for days').fill('30');
  await dialog.getByRole('button', { name: 'Make the code' }).click();
  const code = await dialog.locator('.secret code').innerText();
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByText(/a certificate for 30 days of/).waitFor();

  const { authorities } = (await world.admin().get('/admin/v1/developers/dev/device-authorities')).body;
  const [{ authorityId }] = authorities;
  const deviceId = deviceIdOf(8_102);
  const json = { deviceId, code, nonce: NONCE, csr: newRequest().csr };
  t.equal((await world.anonymous().post('/v1/enrolments', { json })).status, 201);
  await watched.visit(`/console/devices/${deviceId}`);
  const login = page.getByRole('region', { name: 'Login' });
  await login.getByText(/ends in \d+ d/).waitFor();
  await login.getByRole('link', { name: authorityId }).click();
  await known.getByText('active', { exact: true }).waitFor();
  const other = await world.registerDevice();
  await watched.visit(`/console/devices/${other.deviceId}`);
  await login.getByText('none of the service').waitFor();

  await watched.visit('/console/developers/dev/enrolment');
  await known.getByRole('button', { name: 'Retire' }).click();
  await dialog.getByRole('button', { name: 'Retire the CA' }).click();
  await known.getByText('retired', { exact: true }).waitFor();
  await known.getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('textbox').fill(authorityId);
  await dialog.getByRole('button', { name: 'Revoke the CA' }).click();
  await known.getByText('revoked', { exact: true }).waitFor();
  t.match((await world.admin().get('/admin/v1/developers/dev/device-authorities')).body.authorities, [
    { name: HOSTILE.image, state: 'revoked' },
  ]);
}
