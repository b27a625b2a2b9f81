import { join } from 'node:path';
import type { Test } from 'tap';
import { createAuthority } from '../broker/authority.ts';
import type { Tenant, World } from '../world.ts';
import type { Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';

interface Walk {
  world: World;
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** The settings with which applications may get tokens by certificate: here through a proxy that nobody uses. */
export const CERTIFICATE_SETTINGS = {
  LAPEL_TRUST_PROXY: '192.0.2.1',
  LAPEL_CLIENT_CERT_HEADER: 'Client-Cert',
  LAPEL_APPLICATION_SELF_SIGNED: 'true',
};

/** The operator adds a certificate of an application, demands it, and revokes it; its name is shown as text. */
export async function certificates(t: Test, { world, tenant, watched: { page } }: Walk): Promise<void> {
  const path = `/admin/v1/applications/${tenant.applicationId}`;
  const state = async () => (await world.admin().get(path)).body.authentication as string;
  const pem = createAuthority(join(world.dataDir, '..', 'tls'), 'walk')
    .own()
    .cert.toString();
  await page.goto(`/console/applications/${tenant.applicationId}`);
  const dialog = page.getByRole('dialog');
  await page.getByRole('button', { name: 'Add a certificate' }).click();
  await dialog.getByLabel('Name').fill(HOSTILE.image);
  await dialog.getByLabel('Certificate').fill(pem);
  await dialog.getByRole('button', { name: 'Add', exact: true }).click();
  const table = page.getByRole('table', { name: 'Certificates' });
  await table.getByText(HOSTILE.image).waitFor();
  const [added] = (await world.admin().get(`${path}/certificates`)).body.certificates;
  t.match(added, { name: HOSTILE.image, kind: 'certificate' });

  await page.getByRole('button', { name: 'Access tokens' }).click();
  await dialog.getByRole('button', { name: 'Demand a certificate' }).click();
  await page.getByText('with a certificate only').waitFor();
  t.equal(await state(), 'certificate');
  await page.getByRole('button', { name: 'Access tokens' }).click();
  await dialog.getByRole('button', { name: 'Accept the secret' }).click();
  await page.getByText('with the secret or a certificate').waitFor();
  t.equal(await state(), 'secret');

  await table.getByRole('row', { name: added.certificateId }).getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('textbox').fill(added.certificateId);
  await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
  await page.getByText('No certificates').waitFor();
  t.same((await world.admin().get(`${path}/certificates`)).body, { certificates: [] });
}
