import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import type { Test } from 'tap';
import { runProgram } from '../run-program.ts';
import { until } from '../until.ts';
import type { Tenant, World } from '../world.ts';
import type { Watched } from './browser.ts';
import { DESK } from './check-page.ts';

interface Walk {
  world: World;
  /** A page without a session. */
  watched: Watched;
  /** Checks the page for faults that any page could have. */
  check(name: string): Promise<void>;
}

/** The most clicks from the sign-in to the webhook of a first command. */
const MOST_CLICKS = 10;
const ROOT = join(import.meta.dirname, '../..');

type Link = Awaited<ReturnType<World['activatedDevice']>>['link'];

/** Answers the next command as a device does. Returns its operation. */
async function carryOut(link: Link): Promise<string> {
  const command = await link.command();
  link.puback(command.packet);
  await link.ack({ transactionId: command.transactionId, status: 'succeeded' });
  return command.operation;
}

/** Runs the texts of the page in a shell, as somebody does who pastes them. */
async function paste(t: Test, world: World, { curl, line, script }: Record<string, string>, secret: string) {
  const folder = join(world.dataDir, 'developer');
  mkdirSync(folder);
  const lapel = join(folder, 'lapel');
  writeFileSync(lapel, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/src/main.ts' "$@"\n`);
  chmodSync(lapel, 0o755);
  const client = JSON.stringify(join(ROOT, 'client/index.ts'));
  writeFileSync(join(folder, 'first.ts'), String(script).replace("'@lapel/client'", client));
  const env = {
    PATH: `${folder}:${process.env['PATH']}`,
    HOME: folder,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    LAPEL_APPLICATION_SECRET: secret,
  };
  const text = `set -e\n${curl}\necho\n${line}\n'${process.execPath}' '${folder}/first.ts'`;
  const { stdout, stderr, status } = await runProgram('bash', ['-c', text], { env });
  t.equal(status, 0, stderr);
  return stdout;
}

interface Received {
  headers: Readonly<Record<string, unknown>>;
  body: string;
  authenticationKey: string;
}

/** The tool says whether a webhook is genuine, and which part differs. It asks no server. */
async function signatureTool(
  t: Test,
  { page }: Watched,
  { headers, body, authenticationKey }: Received,
): Promise<void> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
  await page.getByRole('heading', { level: 1, name: 'Signature' }).waitFor();
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  const tool = page.getByRole('region', { name: 'Check a webhook' });
  const tried = async (content: string): Promise<void> => {
    await tool.locator('[name=headers]').fill(lines.join('\n'));
    await tool.locator('[name=body]').fill(content);
    await tool.locator('[name=key]').fill(authenticationKey);
    await tool.getByRole('button', { name: 'Check the signature' }).click();
  };
  await tried(body);
  await tool.getByText('genuine').waitFor();
  await tried(JSON.stringify(JSON.parse(body), null, 2));
  await tool.getByText('parsed and written again').waitFor();
  await tool.locator('[name=file]').setInputFiles({ name: 'body', mimeType: '', buffer: Buffer.from(body) });
  await tool.getByRole('button', { name: 'Check the signature' }).click();
  await tool.getByText('genuine').waitFor();
  t.same(asked, [], 'nothing leaves the browser');
  for (const language of ['TypeScript', 'Python', 'Go', 'Java', 'PHP'])
    await page.locator(`pre[aria-label="${language}"]`).getByText('webhook').first().waitFor();
}

/** From the sign-in to the webhook of a first command, as somebody goes who has an applicationId and a secret only. */
export async function firstMinutes(t: Test, { world, watched, check }: Walk): Promise<void> {
  const { page } = watched;
  const tenant = await world.createTenant('newcomer', { key: false, deviceEvent: false });
  const device = await world.registerDevice('newcomer');
  const link = await world.connect(device);
  let clicks = 0;
  const click = async (locator: Locator): Promise<void> => {
    clicks += 1;
    await locator.click();
  };
  const steps = page.getByRole('list', { name: 'First steps' });
  const next = (name: string): Promise<void> => steps.locator('[aria-current=step]').getByText(name).waitFor();
  const dialog = page.getByRole('dialog');
  const buttonOf = (within: Locator, name: string): Locator => within.getByRole('button', { name, exact: true });
  const body = page.locator('#page');

  await page.goto('/console/');
  await page.getByLabel('Application').fill(tenant.applicationId);
  await page.getByLabel('Secret').fill(tenant.secret);
  await click(page.getByRole('button', { name: 'Sign in' }));
  await next('Set a receiver');
  await click(steps.getByRole('link', { name: 'Set the URL' }));
  await click(buttonOf(body, 'Change the URLs'));
  await dialog.locator('[name=deviceEvent]').fill(tenant.receiver.url);
  await click(buttonOf(dialog, 'Change'));
  await dialog.waitFor({ state: 'detached' });
  await click(buttonOf(body, 'Issue the key'));
  await click(buttonOf(dialog, 'Issue the key'));
  const authenticationKey = await dialog.locator('.secret code').innerText();
  await click(buttonOf(dialog, 'I have saved it'));
  await click(page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Start' }));
  await next('Activate a device');

  const form = page.getByRole('region', { name: 'Send a command here' });
  await form.locator('[name=device]').fill(device.deviceId);
  t.equal(await form.locator('[name=command]').inputValue(), 'activate', 'a device must be activated first');
  await click(buttonOf(form, 'Send the command'));
  t.equal(await carryOut(link), 'activate');
  const webhook = form.getByRole('listitem').filter({ hasText: 'Webhook' });
  await webhook.getByText('delivered').waitFor();
  await page.getByText('Activate a device: done').waitFor({ state: 'detached' });
  await until(async () => (await form.locator('[name=command]').inputValue()) === 'setLanguage'); // then it can do more
  await click(buttonOf(form, 'Send the command'));
  for (const name of ['Queued', 'Published', 'PUBACK', 'Acknowledged', 'Webhook'])
    await form.getByRole('listitem').filter({ hasText: name }).waitFor();
  t.equal(await carryOut(link), 'setLanguage');
  await webhook.getByText('delivered').waitFor();
  t.equal((await tenant.event()).data.transaction['operation'], 'activate');
  const received = await tenant.event();
  t.equal(received.data.transaction['operation'], 'setLanguage');
  t.ok(clicks <= MOST_CLICKS, `from the sign-in to the webhook: ${clicks} clicks`);
  await steps.waitFor({ state: 'detached' });

  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  await page.getByRole('link', { name: 'Check a signature' }).click();
  await signatureTool(t, watched, {
    headers: received.headers,
    body: received.body.toString(),
    authenticationKey,
  });
  await check('the signature tool');
  await page.setViewportSize(DESK);
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Start' }).click();

  const receivers = page.getByRole('table', { name: 'Receivers' });
  // 410, because any other failure is tried again after some seconds, and on a slow machine would be mended meanwhile.
  tenant.receiver.answer({ status: 410, body: 'the disk is full' });
  await receivers.getByRole('button', { name: 'Send a test event' }).click();
  await dialog.getByText('the disk is full').waitFor();
  await buttonOf(dialog, 'Close').click();
  await receivers.getByText(/failing|last webhook failed/).waitFor();
  await tenant.receiver.next();
  tenant.receiver.answer({ status: 200 });
  const failed = await tenant.api.put(`${tenant.path}/devices/${device.deviceId}/settings/lang`, {
    json: { lang: 'de' },
  });
  const { transactionId } = failed.body as { transactionId: number };
  const command = await link.command();
  link.puback(command.packet);
  await link.ack({ transactionId, status: 'failed', error: { code: 'NO_SUCH_VOICE', message: '<b>none</b>' } });
  await tenant.event();
  await page.reload();
  await page.getByRole('table', { name: 'Commands that failed last' }).getByText('NO_SUCH_VOICE').waitFor();
  await page.getByRole('table', { name: 'Webhooks that failed last' }).getByRole('link', { name: 'test' }).waitFor();

  await form.getByText('Sets the language').waitFor();
  const [curl, line, script] = await Promise.all(
    ['curl', 'Command line', 'TypeScript'].map((name) => page.locator(`pre[aria-label="${name}"]`).innerText()),
  );
  t.notMatch(await page.content(), tenant.secret, 'the secret is never shown');
  const pasted = paste(t, world, { curl: curl!, line: line!, script: script! }, tenant.secret);
  for (let commands = 0; commands < 3; commands += 1) t.equal(await carryOut(link), 'setLanguage');
  t.match(await pasted, /transactionId/);
  for (let commands = 0; commands < 3; commands += 1) await tenant.event();

  await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
  tenant.receiver.answer({ status: 410 });
  await buttonOf(body, 'Send a test event').click();
  await buttonOf(dialog, 'Close').click();
  const deliveries = page.getByRole('table', { name: 'Deliveries' });
  // The first test event is gone as well. The newest row is above it.
  const gone = deliveries.getByRole('row').filter({ hasText: 'gone' }).first();
  const row = deliveries.getByRole('row').filter({ hasText: await gone.locator('.mono').innerText() });
  tenant.receiver.answer({ status: 200 });
  await buttonOf(body, 'Send a range again').click();
  await dialog.locator('[name=until]').fill('2199-01-01T00:00'); // the service of this world is ahead of the browser
  await dialog.getByLabel('State').selectOption('gone');
  await dialog.getByText(/^\d deliver(y|ies) will be sent again\.$/).waitFor();
  await buttonOf(dialog, 'Send again').click();
  await row.getByText('delivered').waitFor(); // nobody has refreshed the list
  t.same(watched.faults, []);
}

interface Reloaded {
  world: World;
  tenant: Tenant;
  other: Tenant;
  /** A page in which the tenant is signed in. */
  watched: Watched;
}

/** A reload does not sign out. The token is in this tab alone, and ends with the secret, with its time and at the sign-out. */
export async function reloadStays(t: Test, { world, tenant, other, watched }: Reloaded): Promise<void> {
  const { page, context } = watched;
  const signIn = page.getByRole('button', { name: 'Sign in' });
  const kept = (): Promise<string[]> =>
    page.evaluate('[document.cookie, JSON.stringify(localStorage), JSON.stringify({ ...sessionStorage })]');
  const enter = async ({ applicationId, secret }: { applicationId: string; secret: string }): Promise<void> => {
    await page.locator('[name=applicationId]').fill(applicationId);
    await page.locator('[name=secret]').fill(secret);
    await signIn.click();
    await page.getByRole('heading', { level: 1, name: 'Settings' }).waitFor();
  };
  const nothing = ['', '{}', '{}'];
  await page.goto('/console/settings');
  await page.getByText(tenant.applicationId).first().waitFor();
  const [cookie, shared, own] = await kept();
  t.same([cookie, shared], ['', '{}'], 'no cookie, and nothing that other tabs see');
  t.match(own, /accessToken/);
  t.notMatch(own, tenant.secret, 'the secret is not kept');
  const second = await context.newPage();
  await second.goto('/console/settings');
  await second.getByLabel('Secret').waitFor();
  await second.close();

  await page.getByRole('button', { name: 'Sign out' }).click();
  await signIn.waitFor();
  t.same(await kept(), nothing, 'signing out deletes it');
  await enter(other);
  await page.reload();
  await page.getByText(other.applicationId).first().waitFor();
  t.equal(await page.getByText(tenant.applicationId).count(), 0, 'of the application before nothing is seen');

  await page.evaluate(`for (const [name, text] of Object.entries({ ...sessionStorage }))
    sessionStorage.setItem(name, JSON.stringify({ ...JSON.parse(text), expiresAt: Date.now() }))`);
  await page.reload();
  await signIn.waitFor();
  t.same(await kept(), nothing, 'an expired token is not tried');
  await enter(other);
  await page.goto('about:blank'); // the page itself would notice the end, and a reload would then ask for nothing
  const replaced = await world.admin().post(`/admin/v1/applications/${other.applicationId}/secret`);
  await page.goto('/console/settings');
  await page.getByText(/Your session has ended/).waitFor();
  t.ok(watched.expected(/401/));
  t.same(await kept(), nothing, 'a new secret ends the session');
  await enter({ ...other, secret: replaced.body.secret });
}

/** An application deletes a version and its package in the console, and a page of versions is one request. */
export async function softwareGoes(t: Test, { page, settled }: Watched): Promise<void> {
  const dialog = page.getByRole('dialog');
  const name = 'com.example.mistake';
  await page.getByRole('link', { name: 'Software', exact: true }).first().click();
  await page.getByRole('button', { name: 'New package' }).click();
  await dialog.locator('[name=package]').fill(name);
  await dialog.locator('[name=displayName]').fill('A mistake');
  await dialog.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('link', { name }).click();
  for (const version of ['1.0.0', '1.0.1']) {
    await page.getByRole('button', { name: 'New version' }).click();
    await dialog.locator('[name=version]').fill(version);
    await dialog.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('row', { name: version }).waitFor();
  }
  const asked: string[] = [];
  const listen = (request: { url(): string }): void => void asked.push(request.url());
  await page.getByRole('link', { name: 'Software', exact: true }).first().click();
  await page.getByRole('link', { name }).waitFor();
  await settled();
  page.on('request', listen);
  await page.getByRole('link', { name }).click();
  await page.getByRole('row', { name: '1.0.1' }).waitFor();
  await settled();
  page.off('request', listen);
  t.equal(asked.filter((url) => url.includes('/packages/')).length, 1, 'one request shows all versions');
  for (const version of ['1.0.0', '1.0.1']) {
    await page.getByRole('row', { name: version }).getByRole('button', { name: 'Delete' }).click();
    t.ok(await dialog.getByRole('button', { name: 'Delete' }).isDisabled(), 'its name must be typed');
    await dialog.getByLabel(`Type ${version} to confirm`).fill(version);
    await dialog.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('row', { name: version }).waitFor({ state: 'detached' });
  }
  await page.getByRole('button', { name: 'Delete the package' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText(`${name} was deleted.`).waitFor();
  t.equal(await page.getByRole('link', { name }).count(), 0);
}

/** The search of an application finds its own devices, transactions and packages. */
export async function ownSearch(
  { page }: Watched,
  { deviceId, transactionId, packageName }: { deviceId: string; transactionId: number; packageName: string },
  strangerId: string,
): Promise<void> {
  const field = page.getByRole('combobox', { name: 'Search by identifier or name' });
  const option = page.getByRole('option');
  for (const [text, kind, title] of [
    [deviceId.slice(0, 14), 'device', deviceId],
    [String(transactionId), 'transaction', String(transactionId)],
    [packageName.slice(4).toUpperCase(), 'package', packageName],
  ] as const) {
    await field.fill(text);
    await option.filter({ hasText: kind }).filter({ hasText: title }).first().click();
    // A page takes the focus once it is shown. Before that, it would be taken from the field, which closes the results.
    await page.locator('h1:focus').filter({ hasText: title }).waitFor();
  }
  // Those of others are not found, and a number is no transaction.
  for (const text of [strangerId, String(transactionId + 1_000), 'no.such.package']) {
    await field.fill(text);
    await page.getByText('Nothing was found.').waitFor();
    await field.fill('');
    await page.getByText('Nothing was found.').waitFor({ state: 'detached' });
  }
  await field.press('Escape');
}
