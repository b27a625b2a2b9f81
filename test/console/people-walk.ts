import type { Browser } from 'playwright-core';
import type { Test } from 'tap';
import { addToken, createPerson } from '../people/people-world.ts';
import type { Tenant, World } from '../world.ts';
import { openPage, type Watched } from './browser.ts';
import { HOSTILE } from './hostile-fleet.ts';

interface Walk {
  world: World;
  tenant: Tenant;
  /** The page of an owner, who is signed in. */
  watched: Watched;
  browser: Browser;
  fleet: { deviceId: string; transactionId: number; applicationId: string };
}

/** A person whose name and token are hostile texts. */
export async function createHostilePerson(world: World): Promise<void> {
  const json = { personId: 'hostile', name: HOSTILE.image, role: 'reader' };
  await world.admin().post('/admin/v1/people', { json });
  await addToken(world, 'hostile', { name: HOSTILE.script });
}

/** An owner makes a person with a token, which is shown once; with it the person signs in. */
async function letIn(t: Test, { watched, browser, world }: Walk): Promise<Watched> {
  const { page } = watched;
  await watched.visit('/console/people');
  await page.getByText('It belongs to nobody').waitFor();
  await page.getByRole('button', { name: 'New person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Mika Sato');
  await dialog.getByLabel('personId').fill('mika');
  await dialog.getByLabel('Role').selectOption('support');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**/console/people/mika');
  await page.getByRole('button', { name: 'New token' }).click();
  await dialog.getByLabel('What it is for').fill('laptop');
  await dialog.getByRole('button', { name: 'Make the token' }).click();
  const token = await dialog.locator('.secret code').innerText();
  t.match(token, /^lapel_/);
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('row').filter({ hasText: 'laptop' }).waitFor();
  const theirs = await openPage(browser, world.service.addresses.admin);
  await theirs.page.goto('/console/');
  await theirs.page.getByLabel('Administrator token').fill(token);
  await theirs.page.getByRole('button', { name: 'Sign in' }).click();
  await theirs.page.getByText('Mika Sato, support').waitFor();
  return theirs;
}

const buttonsOf = ({ page }: Watched): Promise<string[]> =>
  page.evaluate(
    `[...document.querySelectorAll('#page header.head button')].map((one) => one.innerText).filter(Boolean)`,
  );

/** Pages offer what the role permits, hide payloads, and follow a change of the role and its end at once. */
export async function rolesHold(t: Test, walk: Walk): Promise<void> {
  const { world, fleet } = walk;
  const theirs = await letIn(t, walk);
  const { page } = theirs;
  const open = async (path: string): Promise<void> => {
    await theirs.visit(`/console/${path}`);
    await theirs.settled();
  };
  const offers: Record<string, string[]> = {};
  for (const path of [
    `devices/${fleet.deviceId}`,
    `developers/${walk.tenant.developerId}`,
    `applications/${fleet.applicationId}`,
    'people/hostile',
  ]) {
    await open(path);
    offers[path] = await buttonsOf(theirs);
  }
  t.same(Object.values(offers).flat(), ['Disconnect'], JSON.stringify(offers));
  await open(`transactions/${fleet.transactionId}`);
  await page.getByRole('button', { name: 'Send the webhook again' }).waitFor();
  t.notMatch(await page.locator('#page').innerText(), /correct horse/);

  // The page has a stream, which ends with the old role; the page then learns the new one.
  await open(`devices/${fleet.deviceId}`);
  await page.getByText('Live', { exact: true }).first().waitFor();
  const admin = world.admin();
  await admin.patch('/admin/v1/people/mika', { json: { role: 'operator' } });
  await page.getByText('Mika Sato, operator').waitFor();
  await page.getByRole('button', { name: 'New credential' }).waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  const { tokens } = (await admin.get('/admin/v1/people/mika')).body as { tokens: { tokenId: string }[] };
  await admin.delete(`/admin/v1/people/mika/tokens/${tokens[0]?.tokenId}`);
  await page.getByText(/Your session has ended/).waitFor();
  theirs.expected(/401/);
  t.same(theirs.faults, []);
  await theirs.context.close();
}

/** A change in the console has one entry in the audit log. */
export async function changedOnce(t: Test, { world, watched }: Pick<Walk, 'world' | 'watched'>): Promise<void> {
  const { page } = watched;
  // The service itself writes the refused sign-ins of a minute together, at any time.
  const entries = async (): Promise<{ actor: { kind: string } }[]> =>
    (await world.admin().get('/admin/v1/audit?limit=1000')).body.entries.filter(
      ({ actor }: { actor: { kind: string } }) => actor.kind !== 'service',
    );
  const before = (await entries()).length;
  await watched.visit('/console/developers');
  await page.getByRole('button', { name: 'New developer' }).click();
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(HOSTILE.link);
  await page.getByRole('dialog').getByLabel('developerId').fill('made-here');
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  await page.waitForURL('**/console/developers/made-here');
  await watched.settled();
  const made = (await entries()).slice(0, (await entries()).length - before);
  t.match(made, [{ actor: { kind: 'session' }, resource: /developers/, status: 201 }]);
  t.equal(made.length, 1);
}

/** The audit log shows what happens while it is open, and says that no entry was changed. */
export async function logIsChecked(_: Test, { watched, world }: Pick<Walk, 'watched' | 'world'>): Promise<void> {
  const { page } = watched;
  await watched.visit('/console/audit');
  await page.getByText('Live', { exact: true }).first().waitFor();
  await world.admin().patch('/admin/v1/developers/seen-at-once', { json: {} });
  await page
    .getByText(/the developer seen-at-once/)
    .first()
    .waitFor();
  await page.getByRole('button', { name: 'Check the log' }).click();
  await page
    .getByText(/^All \d+ entries are as they were written\. The end is sealed with .+ since position \d+\.$/)
    .waitFor();
}

/** An owner with a token of their own lets the administrator token be refused; the people who came with it must sign in again. */
export async function tokenRefused(t: Test, { world, watched, browser }: Walk): Promise<void> {
  const { token } = await createPerson(world, { personId: 'ada', role: 'owner' });
  const theirs = await openPage(browser, world.service.addresses.admin);
  const { page } = theirs;
  await page.goto('/console/people');
  await page.getByLabel('Administrator token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await watched.visit('/console/transactions');
  await watched.page.getByText('Live', { exact: true }).first().waitFor();
  await page.getByRole('button', { name: 'Refuse it' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Refuse it' }).click();
  await page.getByText('Only people with a token of their own').waitFor();
  await watched.page.getByText(/Your session has ended/).waitFor();
  watched.expected(/401/);
  await page.getByRole('button', { name: 'Accept it again' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Accept it' }).click();
  await page.getByText('It belongs to nobody').waitFor();
  t.same(theirs.faults, []);
  await theirs.context.close();
}
