import t from 'tap';
import { startProvider } from '../people/test-provider.ts';
import { startWorld } from '../world.ts';
import { openBrowser, openPage, NO_BROWSER as skip } from './browser.ts';

t.test('people sign in to the console through a provider of another site', { skip, timeout: 300_000 }, async (t) => {
  const provider = await startProvider(t, { host: 'localhost' });
  const settings = JSON.stringify([provider.settings('company', { name: 'Lapel & Sons' })]);
  const world = await startWorld(t, { env: { LAPEL_SIGN_IN_PROVIDERS: settings } });
  const { admin } = world.service.addresses;
  provider.register(admin, 'company');
  provider.accounts.set('ada', { name: 'Ada <b>', roles: ['operators'] });
  provider.accounts.set('eve', { name: 'Eve', roles: ['gardeners'] });
  const browser = await openBrowser(t);
  const watched = await openPage(browser, admin);
  watched.allow(provider.issuer);
  const { page, context } = watched;
  const button = page.getByRole('button', { name: 'Sign in with Lapel & Sons' });
  const identify = async (account: string): Promise<void> => {
    await page.getByLabel('Account').fill(account);
    await page.getByRole('button', { name: 'Continue' }).click();
  };

  await t.test('a button leads there and back to the page where one was', async (t) => {
    await page.goto('/console/devices?connected=true');
    await button.waitFor();
    t.same(await watched.axe(), []);
    await button.click();
    await identify('ada');
    await page.getByRole('heading', { level: 1, name: 'Devices' }).waitFor();
    t.equal(page.url(), `${admin}/console/devices?connected=true`);
    await page.getByText('Ada <b>, operator').waitFor();
    const cookies = await context.cookies(admin);
    t.match(
      cookies.filter(({ name }) => name.startsWith('__Host-')),
      [{ name: '__Host-lapel', httpOnly: true, secure: true, sameSite: 'Strict' }],
    );
    t.same(watched.faults, []);
  });

  await t.test('after the end of a session the page waits, and another window signs in', async (t) => {
    await page.goto('/console/transactions');
    await page.getByText('Live', { exact: true }).first().waitFor();
    const { sessions } = (await world.admin().get('/admin/v1/sessions')).body;
    await world.admin().delete(`/admin/v1/sessions/${sessions[0].sessionId}`);
    await page.getByText(/Your session has ended/).waitFor();
    const opened = context.waitForEvent('page');
    await button.click();
    const other = await opened;
    await other.getByText('Ada <b>, operator').waitFor();
    await other.close();
    await page.evaluate(`dispatchEvent(new Event('focus'))`);
    await page.getByText(/Your session has ended/).waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1, name: 'Transactions' }).waitFor();
    watched.expected(/401/);
    t.same(watched.faults, []);
  });

  await t.test('a sign-out ends the session at the provider as well', async (t) => {
    await page.getByRole('button', { name: 'Sign out' }).first().click();
    await page.waitForURL(`${provider.issuer}/session/end**`);
    await page.getByRole('button', { name: /yes|sign me out/i }).click();
    await page.waitForURL(`${admin}/console/`);
    await button.click();
    await page.getByLabel('Account').waitFor();
    t.same(watched.faults, []);
  });

  await t.test('somebody without a role reads why they may not come in', async (t) => {
    await identify('eve');
    await page.getByText('The provider knows you, but gives you no role here').waitFor();
    t.equal(page.url(), `${admin}/console/`, 'the reason is not in the address any more');
    await page.goto('/console/?signIn=%3Cscript%3E');
    await page.getByText('The sign-in has failed.').waitFor();
    t.same(watched.faults, []);
  });
});

t.test('people of a developer sign in to the console of an application', { skip, timeout: 300_000 }, async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const { http } = world.service.addresses;
  const made = await world
    .admin()
    .post('/admin/v1/developers/dev/members', { json: { name: 'Ada <b>', role: 'admin' } });
  const browser = await openBrowser(t);
  const signIn = async (token: string) => {
    const watched = await openPage(browser, http);
    await watched.page.goto('/console/');
    await watched.page.getByLabel('Application').fill(tenant.applicationId);
    await watched.page.getByLabel('Secret, or your token').fill(token);
    await watched.page.getByRole('button', { name: 'Sign in' }).click();
    return watched;
  };
  const ada = await signIn(made.body.token);
  const { page } = ada;
  await page.getByText('Ada <b>, admin').waitFor();
  await page.getByRole('link', { name: 'People' }).click();
  await page.getByRole('row', { name: /Ada <b>/ }).waitFor();
  t.same(await ada.axe(), []);
  await page.getByRole('button', { name: 'New person' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name').fill('Rea');
  await dialog.getByLabel('Role').selectOption('reader');
  await dialog.getByRole('button', { name: 'Make the token' }).click();
  const token = await dialog.locator('.secret code').innerText();
  t.match(token, /^lapeldev_/);
  await dialog.getByRole('button', { name: 'I have saved it' }).click();

  const rea = await signIn(token);
  await rea.page.getByText('Rea, reader').waitFor();
  await rea.page.getByRole('link', { name: 'Settings' }).click();
  await rea.settled();
  t.equal(await rea.page.getByRole('button', { name: 'Change' }).count(), 0, 'a reader is offered no change');
  t.equal(await rea.page.getByRole('link', { name: 'People' }).count(), 0);
  await rea.page.reload();
  await rea.page.getByText('Rea, reader').waitFor();
  await page.getByRole('row', { name: /Rea/ }).getByRole('button', { name: 'Revoke' }).click();
  await dialog.getByRole('button', { name: 'Revoke' }).click();
  await page.getByRole('row', { name: /Rea/ }).waitFor({ state: 'detached' });
  await rea.page.getByRole('link', { name: 'Devices', exact: true }).click();
  await rea.page.getByText(/Your session has ended/).waitFor();
  rea.expected(/401/);
  t.same([...ada.faults, ...rea.faults], []);
  const wrong = await signIn(`lapeldev_${'x'.repeat(43)}`);
  await wrong.page.getByText('The token is wrong, has expired, or was revoked.').waitFor();
});
