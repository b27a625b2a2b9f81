import { readFile } from 'node:fs/promises';
import type { Locator } from 'playwright-core';
import type { Test } from 'tap';
import type { FakeClock } from '../fake-clock.ts';
import { until } from '../until.ts';
import { type Tenant, transactionIdOf, WIFI, type World } from '../world.ts';
import type { Watched } from './browser.ts';

interface Walk {
  world: Pick<World, 'admin' | 'createTenant' | 'activatedDevice' | 'open' | 'idle' | 'raw'> & { clock: FakeClock };
  tenant: Tenant;
  /** The page of the operator, who is signed in. */
  watched: Watched;
}

/** The most clicks from the overview to an answer. */
const MOST_CLICKS = 5;
/** Milliseconds for which the list of receivers, and counts, are kept. */
const KEPT = 10_000;

/** Begins a question at the overview, and counts the clicks to its answer. */
async function asks(t: Test, { visit, settled }: Watched, question: string) {
  await visit('/console/');
  await settled();
  const begun = performance.now();
  let clicks = 0;
  return {
    async click(locator: Locator): Promise<void> {
      clicks += 1;
      await locator.click();
    },
    answered(): void {
      t.ok(clicks <= MOST_CLICKS, `${question} ${clicks} clicks`);
      t.comment(`${question} ${clicks} clicks, ${((performance.now() - begun) / 1000).toFixed(1)} s of the machine`);
    },
  };
}

/** Why does a device not get its command? Its story says it: refused logins, the end of the connection, errors. */
async function whyNoCommand(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const tenant = await world.createTenant('night');
  const device = await world.activatedDevice(tenant);
  const failed = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  device.link.puback((await device.link.command()).packet);
  await device.link.ack({ transactionId: failed, status: 'failed', error: { code: 'WEAK_SIGNAL', message: 'far' } });
  device.link.send({ cmd: 'disconnect' });
  await device.link.closed;
  await world.admin().post(`/admin/v1/devices/${device.deviceId}/credential`, { json: {} });
  const login = await (await world.open(device)).login();
  t.equal(login.returnCode, 4, 'its credential was replaced');
  await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI });
  await until(async () => {
    const { body } = await world.admin().get(`/admin/v1/devices/${device.deviceId}/story`);
    return body.entries.some(({ kind }: { kind: string }) => kind === 'refused');
  });

  const { click, answered } = await asks(t, watched, 'Why does device X not get its command?');
  await click(page.getByRole('combobox').or(page.getByRole('searchbox')).first());
  await page.keyboard.type(device.deviceId);
  await click(
    page
      .getByRole('option', { name: device.deviceId })
      .or(page.getByRole('link', { name: device.deviceId }))
      .first(),
  );
  const story = page.getByRole('table', { name: 'Story' });
  await story.getByText('wrong credential').waitFor();
  await story.getByText('replaced: credential').waitFor();
  await story.getByText('the device disconnected').waitFor();
  await story.getByText('WEAK_SIGNAL').waitFor();
  await story.getByText('not published yet').waitFor();
  answered();
}

/** Whose webhooks do not arrive? The list of receivers names the customer, and a test shows the answer. */
async function whoseWebhooks(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const silent = await world.createTenant('silent');
  await world.admin().patch('/admin/v1/developers/silent', { json: { name: 'Silent Harbour' } });
  silent.receiver.answer({ status: 503, body: 'the disk is full' });
  await silent.api.post(`${silent.path}/webhooks/test`, { json: { setting: 'deviceEvent' } });
  await silent.receiver.next();
  await world.idle();
  world.clock.advance(KEPT);

  const { click, answered } = await asks(t, watched, 'Whose webhooks do not arrive?');
  await click(page.getByRole('link', { name: /Failing receivers/ }));
  const row = page.getByRole('row', { name: /Silent Harbour/ });
  await row.getByText('failing').waitFor();
  await row.getByText('answered 503').waitFor();
  await click(row.getByRole('button', { name: 'Test' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('the disk is full').waitFor();
  await dialog.getByText(/webhook-signature: v1,/).waitFor();
  await dialog.getByText(/webhook-timestamp: \d+/).waitFor();
  await click(dialog.getByRole('link', { name: 'Show the delivery' }));
  await page
    .getByRole('region', { name: 'Request' })
    .getByText(/^POST http/)
    .waitFor();
  answered();
}

/** Which version, which devices, which error: each bar of the failures leads to its rows. */
async function whichFailures(t: Test, { world, tenant, watched }: Walk): Promise<void> {
  const { page } = watched;
  const file = await world.raw();
  const at = world.clock.now() - 1_000_000;
  const codes = [null, null, 'STORAGE_FULL', 'DOWNLOAD_FAILED', 'STORAGE_FULL'];
  for (const [index, code] of codes.entries()) {
    const status = code === null ? 'succeeded' : 'failed';
    await file.all(
      `INSERT INTO transactions (device_id, application_id, operation, subject, status, due, attempts, created_at, updated_at,
         completed_at, error_code, error_message)
       VALUES ('${490154203237510 + index}', '${tenant.applicationId}', 'installSoftware', 'com.example.dock@2.0.0', '${status}', 0,
         1, ${at}, ${at}, ${at}, ${code === null ? 'NULL, NULL' : `'${code}', ''`})`,
    );
  }
  world.clock.advance(KEPT);
  const { click, answered } = await asks(
    t,
    watched,
    '5 % of installs fail since midnight: which version, devices, error?',
  );
  await click(page.getByRole('link', { name: /Failed installations/ }));
  const versions = page.getByRole('list', { name: 'Failures by version' });
  await versions.getByRole('link', { name: /com\.example\.dock 2\.0\.0.*60 % · 3 of 5/ }).waitFor();
  const [worst] = await versions.getByRole('link').allInnerTexts();
  t.match(worst, /com\.example\.dock/, 'the largest share is first');
  await page.getByRole('list', { name: 'Failures by hour' }).getByRole('link').first().waitFor();
  await click(
    page.getByRole('list', { name: 'Failures by error' }).getByRole('link', { name: /STORAGE_FULL.*66\.7 % · 2 of 3/ }),
  );
  const rows = page.getByRole('table', { name: 'Transactions' }).getByRole('row');
  await rows.getByText('STORAGE_FULL').first().waitFor();
  t.equal(await rows.getByText('STORAGE_FULL').count(), 2, 'as many rows as the bar counts');
  answered();
}

/** Who did it? The audit log has names, values and addresses; the page of the object has its own history. */
async function whoDidIt(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  await world.admin().patch('/admin/v1/developers/silent', { json: { name: 'Loud Harbour' } });
  await world.admin().delete('/admin/v1/developers/%zz'); // a path that cannot be decoded is one line, too
  const { click, answered } = await asks(t, watched, 'Who did it?');
  await click(page.getByRole('link', { name: 'Audit log' }));
  const row = page.getByRole('row').filter({ hasText: 'Silent Harbour → Loud Harbour' });
  await row.getByText('127.0.0.1').waitFor();
  await page.getByText(/tried to delete the developer %zz, and was refused/).waitFor();
  await click(row.getByRole('link', { name: 'Loud Harbour' }));
  const history = page.getByRole('table', { name: 'Changes and their authors' });
  await history.getByText('Silent Harbour → Loud Harbour').waitFor();
  answered();
}

/** Is it healthy, what is slow? The title counts what must be mended; each step has its times and what waits for it. */
async function whatIsSlow(t: Test, { world, watched }: Walk): Promise<void> {
  const { page } = watched;
  const tenant = await world.createTenant('slow');
  const device = await world.activatedDevice(tenant);
  const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
  await device.link.command();
  world.clock.advance(KEPT);
  const { click, answered } = await asks(t, watched, 'Is it healthy, what is slow?');
  await until(async () => (await page.title()).startsWith('('));
  await page
    .getByRole('region', { name: 'Verdict' })
    .getByRole('link', { name: /receivers? of webhooks fail/ })
    .waitFor();
  await click(page.getByRole('link', { name: 'Health' }));
  const steps = page.getByRole('table', { name: 'Steps of commands' });
  await steps.getByRole('row', { name: /Answered.* \d/ }).waitFor();
  await page
    .getByRole('table', { name: 'Routes of the API' })
    .getByRole('row', { name: '/v1/applications/{applicationId}/devices/{deviceId}/settings/wifi' })
    .waitFor();
  await click(steps.getByRole('link', { name: /waiting for a PUBACK/ }));
  await page.getByRole('row', { name: new RegExp(`^Select transaction ${transactionId} `) }).waitFor();
  answered();
}

/** Which node, which certificate, which disk? One page has the three, and the overview leads to it. */
async function whichNode(t: Test, { watched }: Walk): Promise<void> {
  const { page } = watched;
  const { click, answered } = await asks(t, watched, 'Is a node down, does a certificate end, does a disk fill?');
  await click(page.getByRole('link', { name: /certificate of mqtts expires in 19 days/ }).first());
  await page
    .getByRole('table', { name: 'Nodes' })
    .getByRole('row', { name: /this (process|one)/ })
    .waitFor();
  await page.getByRole('table', { name: 'Certificates' }).getByText('19 days left').first().waitFor();
  await page
    .getByRole('region', { name: 'Disk' })
    .getByText(/are free/)
    .waitFor();
  answered();
}

/** A customer leaves: everything is counted, removed after its identifier was typed, and followed, also after a reload. */
async function customerLeaves(t: Test, { world, watched }: Walk): Promise<void> {
  const { page, faults } = watched;
  const tenant = await world.createTenant('departing');
  await world.activatedDevice(tenant);
  const undo = await (await world.raw()).breakWrites('DELETE ON devices');
  const { click, answered } = await asks(t, watched, 'A customer leaves.');
  await click(page.getByRole('link', { name: 'Developers' }));
  await click(page.getByRole('link', { name: 'departing', exact: true }));
  await click(page.getByRole('button', { name: 'Remove whole' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1, 1 connected').waitFor();
  t.ok(await dialog.getByRole('button', { name: 'Remove everything' }).isDisabled());
  await dialog.getByLabel('Type departing to confirm').fill('departing');
  t.same(await watched.axe(), []);
  await click(dialog.getByRole('button', { name: 'Remove everything' }));
  const progress = page.getByRole('region', { name: 'Removal' });
  await progress.getByText('being removed', { exact: true }).waitFor();
  answered();
  await page.reload();
  await progress.getByText('being removed', { exact: true }).waitFor();
  t.same(await watched.axe(), []);
  const address = page.url();

  await watched.visit('/console/developers/departing');
  await progress.getByText('It cannot be stopped').waitFor();
  t.equal(await page.getByRole('button', { name: 'Change' }).count(), 0, 'a developer who leaves cannot be changed');
  t.same(faults, []);
  await watched.visit(`/console/applications/${tenant.applicationId}`);
  await progress.getByText('being removed', { exact: true }).waitFor();
  t.ok(watched.expected(/404/));
  await watched.visit('/console/developers');
  await page.getByRole('row', { name: 'departing' }).getByText('being removed').waitFor();
  await page.getByRole('link', { name: 'Show the progress' }).click();
  await undo();
  world.clock.advance(KEPT);
  await progress.getByText('Everything is removed.').waitFor();
  await progress.getByText('1 of 1').first().waitFor();
  t.equal(page.url(), address);
  await watched.visit('/console/developers');
  await watched.settled();
  t.equal(await page.getByText('departing').count(), 0);
}

/** Many devices at once: the filter of the list, an action, its number typed where it is final, and what became of each. */
async function manyAtOnce(t: Test, { world, watched }: Walk): Promise<void> {
  const { page, settled } = watched;
  const tenant = await world.createTenant('many');
  const devices = [await world.activatedDevice(tenant), await world.activatedDevice(tenant)];
  const ids = devices.map(({ deviceId }) => deviceId);
  await tenant.api.put(`${devices[0]?.path}/settings/lang`, { json: { lang: 'ja' } });
  const dialog = page.getByRole('dialog');
  const choose = (name: string) => dialog.getByRole('button', { name: `${name} ...`, exact: true });
  const open = page.getByRole('button', { name: 'Change all that match ...' });

  const { click, answered } = await asks(t, watched, 'How are many devices blocked at once?');
  await click(page.getByRole('link', { name: 'Devices', exact: true }));
  await click(page.getByRole('button', { name: '+ filter' }));
  await page.getByRole('button', { name: 'Developer', exact: true }).press('Enter');
  const field = page.getByRole('search', { name: 'Filters' }).getByRole('textbox');
  await field.fill('many');
  await field.press('Enter');
  await page.waitForURL('**developerId=many**');
  await click(open);
  await dialog.getByText('2 devices match now').waitFor();
  t.same(await watched.axe(), [], 'the choice keeps nobody out');
  await click(choose('Block'));
  await dialog.getByText('many', { exact: true }).waitFor();
  await click(dialog.getByRole('button', { name: 'Block 2 devices' }));
  await page.getByRole('heading', { level: 1, name: 'Block' }).waitFor();
  await page.getByRole('status').getByText('2 devices: 2 done').waitFor();
  answered();
  await Promise.all(devices.map(({ link }) => link.closed));
  await page.reload();
  await page.getByRole('link', { name: '2 done' }).click();
  await page
    .getByRole('row', { name: ids[1] ?? '' })
    .getByText('done')
    .waitFor();

  // What cannot be undone needs the number, by keyboard as well; the dialog keeps what was typed after an error.
  await watched.visit('/console/devices?developerId=many&activation=activated');
  await settled();
  await open.focus();
  await page.keyboard.press('Enter');
  await dialog.getByText('2 devices match now').waitFor();
  await choose('Change tags').click();
  await dialog.getByLabel('Set').fill('wave');
  await dialog.getByRole('button', { name: /^Change the tags/ }).click();
  await dialog.getByRole('alert').getByText('"wave" is no tag').waitFor();
  await dialog.getByLabel('Set').fill('wave=<b>1</b>, b=2');
  await dialog.locator('[name=remove]').fill('old');
  await dialog.getByRole('button', { name: /^Change the tags/ }).click();
  await page.getByRole('status').getByText('2 devices: 2 done').waitFor();
  await page.getByText('<b>1</b>', { exact: true }).waitFor();
  await page.getByRole('link', { name: 'Devices that match now' }).click();
  await open.click();
  await choose('Delete').click();
  const does = dialog.getByRole('button', { name: 'Delete 2 devices' });
  t.ok(await does.isDisabled(), 'not before the number is typed');
  await dialog.getByLabel('Type 2 to confirm').fill('2');
  await does.click();
  await page.getByRole('list', { name: 'Reasons' }).getByText('DEVICE_IN_USE: it is activated').waitFor();
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  const file = await readFile((await (await download).path()) ?? '', 'utf8');
  t.match(file.split('\r\n'), ['deviceId,state,code,updatedAt', `${ids[0]},refused,DEVICE_IN_USE`]);
  const hold = await (await world.raw()).breakWrites('UPDATE ON device_action_devices');
  const held = { action: 'unblock', filter: { developerId: 'many' } };
  const { body } = await world.admin().post('/admin/v1/device-actions', { json: held });
  await watched.visit(`/console/device-actions/${body.actionId}`);
  await page.getByText('The service goes on with it').waitFor();
  await page.getByRole('button', { name: 'Stop ...' }).click();
  await dialog.getByRole('button', { name: 'Stop the action' }).click();
  await page.getByText('Somebody stopped it.').waitFor();
  await page.getByRole('status').getByText('2 devices: 2 left as they were').waitFor();
  await hold();
  await watched.visit(`/console/devices/${ids[0]}`);
  const story = page.getByRole('table', { name: 'Story' });
  await story.getByRole('link', { name: 'Block', exact: true }).waitFor();
  await story.getByText('DEVICE_IN_USE: it is activated').waitFor();
}

/** The questions of an operator at three in the morning: each is answered within a few clicks. */
export async function questions(t: Test, walk: Walk): Promise<void> {
  await whyNoCommand(t, walk);
  await whoseWebhooks(t, walk);
  await whatIsSlow(t, walk);
  await whichNode(t, walk);
  await whichFailures(t, walk);
  await whoDidIt(t, walk);
  await customerLeaves(t, walk);
  await manyAtOnce(t, walk);
}
