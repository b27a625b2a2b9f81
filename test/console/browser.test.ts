import { join } from 'node:path';
import t, { type Test } from 'tap';
import { tlsSettings } from '../broker/secured-world.ts';
import { keyLine } from '../enrolment/device-keys.ts';
import { missing } from '../installed.ts';
import { startWorld, transactionIdOf, WIFI } from '../world.ts';
import { openBrowser, openPage, NO_BROWSER as skip } from './browser.ts';
import { CERTIFICATE_SETTINGS, certificates } from './certificate-walk.ts';
import { checkPage, DESK } from './check-page.ts';
import { firstMinutes, ownSearch, reloadStays, softwareGoes } from './developer-walks.ts';
import { uploadedFiles } from './diagnostics-walk.ts';
import { deviceCas, enrolmentByPerson, hostileBatch } from './enrolment-walk.ts';
import { createHostileFleet, HOSTILE } from './hostile-fleet.ts';
import { createHostileRollout, HOSTILE_ROLLOUT } from './hostile-rollout.ts';
import { columnsChosen, filtersByKeyboard, savedAsCsv, sortedByHead, viewsAndPalette } from './list-walks.ts';
import { notesOfDevice } from './note-walk.ts';
import { numbersStay } from './numbers-walk.ts';
import { changedOnce, createHostilePerson, logIsChecked, rolesHold, tokenRefused } from './people-walk.ts';
import { questions } from './question-walks.ts';
import { operatorPauses, rolloutsOfApplication } from './rollout-walks.ts';
import { createRunningClock } from './running-clock.ts';
import { secretsOfApplication } from './secrets-walk.ts';
import { softwareKeys } from './signing-walk.ts';
import { strangerPage } from './stranger-walk.ts';
import { backRestores, copied, countsLead, faultyImport, ownFleetLeads, ownReceiver, zones } from './true-walks.ts';
import { slowLine, WALKS, watchesDevice, wrongFile } from './walks.ts';

const MINUTE = 60_000;
const WARNING = `the device reported firmware 8 ${HOSTILE.script}; it answers`;

t.test('the console in a browser', { skip: skip || missing.openssl(), timeout: 900_000 }, async (t) => {
  const clock = createRunningClock();
  const folder = t.testdir({ data: {}, tls: {}, keys: keyLine('first') });
  const env = {
    ...tlsSettings(join(folder, 'tls'), 20),
    ...CERTIFICATE_SETTINGS,
    LAPEL_DEVICE_CERTIFICATES: 'true',
    LAPEL_SAMPLE_RETENTION_DAYS: '90',
    LAPEL_ENCRYPTION_KEY_FILE: join(folder, 'keys'),
  };
  const world = await startWorld(t, { clock, dataDir: join(folder, 'data'), env });
  const { admin, http, objects } = world.service.addresses;
  const fleet = await createHostileFleet(world);
  const { tenant, device } = fleet;
  const rolled = await createHostileRollout(world, tenant);
  await createHostilePerson(world);
  const browser = await openBrowser(t);
  const operator = await openPage(browser, admin);
  operator.allow(objects);
  const { page } = operator;
  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name });

  async function signIn(token = world.service.adminToken): Promise<void> {
    await page.getByLabel('Administrator token').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
  }

  // Faults of one test do not count for the next.
  t.beforeEach(() => void operator.faults.splice(0));

  await t.test('the console opens only with the token, which cannot be guessed', async (t) => {
    await page.goto('/console/devices?connected=true');
    for (let tries = 0; tries < 5; tries += 1) {
      const answer = page.waitForResponse((response) => response.request().method() === 'POST');
      await signIn('wrong');
      t.equal((await answer).status(), 401);
      await page.getByRole('alert').waitFor();
    }
    t.match(await page.getByRole('alert').innerText(), /administrator token is wrong/);
    await signIn('wrong');
    await page.getByText(/Too many attempts/).waitFor();
    t.ok(operator.expected(/401|429/));
    await signIn();
    await heading('Devices').waitFor();
    t.equal(page.url(), `${admin}/console/devices?connected=true`, 'one is where one wanted to be');
    t.same(await page.evaluate('[document.cookie, ...Object.keys({ ...localStorage, ...sessionStorage })]'), ['']);
    t.same(operator.faults, []);
  });

  await t.test('every page of the operator shows texts of devices and customers as text', async (t) => {
    const { deviceId, transactionId, packageName, applicationId } = fleet;
    const tagged = { action: 'tag', filter: { activation: 'deactivated' }, tags: { odd: HOSTILE.image } };
    const begun = await world.admin().post('/admin/v1/device-actions', { json: tagged });
    const action = `device-actions/${begun.body.actionId}`;
    const batchId = await hostileBatch(world, HOSTILE.image);
    const failed = new URLSearchParams({ state: 'failed', code: HOSTILE_ROLLOUT.code }).toString();
    const pages: [path: string, ...texts: string[]][] = [
      ['', HOSTILE.image, 'Too many devices failed', 'The certificate of mqtts expires in 19 days'],
      ['devices'],
      [`devices/${deviceId}`, HOSTILE.image, HOSTILE.script, 'abc⟨U+202E⟩fed'],
      [`devices/${fleet.quiet.deviceId}`, 'Nobody has written a note.'],
      ['transactions', HOSTILE.script, WARNING],
      [`transactions/${transactionId}`, HOSTILE.script, HOSTILE.link, 'abc⟨U+202E⟩fed'],
      [`transactions/${fleet.warned}`, WARNING],
      ['rollouts', HOSTILE.image, 'ABORT_RULE'],
      [`rollouts/${rolled.rolloutId}`, HOSTILE.image, HOSTILE.script, '⟨U+202E⟩', 'the abort rule has paused it'],
      [`rollouts/${rolled.rolloutId}/devices?${failed}`, rolled.failed.deviceId, HOSTILE.script],
      ['webhooks'],
      [`webhooks/${applicationId}/${fleet.deliveryId}`, HOSTILE.image],
      ['software', HOSTILE.script],
      [`software/${packageName}`, HOSTILE.image],
      ['developers', HOSTILE.image, HOSTILE.long],
      ['developers/dev', HOSTILE.script],
      ['developers/dev/enrolment', HOSTILE.image, '0 of 2'],
      [`enrolment/${batchId}`, HOSTILE.image, 'No devices yet'],
      [`applications/${applicationId}`],
      ['people', HOSTILE.image],
      ['people/hostile', HOSTILE.image, HOSTILE.script],
      ['audit'],
      ['failures'],
      ['cohorts'],
      ['device-actions'],
      [action, HOSTILE.image, 'DEVICE_NOT_ACTIVATED'],
      [`${action}/devices?state=refused`, 'DEVICE_NOT_ACTIVATED'],
      ['health', 'mqtts', '19 days left'],
      ['no/such/page'],
    ];
    for (const [path, ...texts] of pages) {
      await operator.visit(`/console/${path}`);
      await checkPage(t, operator, `/${path}`);
      for (const text of texts) await page.getByText(text).first().waitFor({ state: 'attached' });
    }
    await page.setViewportSize(DESK);
  });

  await t.test('pages show at once that a device goes and comes, and each stage of a command', async (t) => {
    await operator.visit(`/console/devices?prefix=${fleet.deviceId}`);
    const row = page.getByRole('row', { name: fleet.deviceId });
    await row.getByText('connected', { exact: true }).waitFor();
    device.link.socket.destroy();
    await row.getByText('disconnected', { exact: true }).waitFor();
    Object.assign(device, { link: await world.connect(device) });
    await row.getByText('connected', { exact: true }).waitFor();

    const again = await device.link.command();
    device.link.puback(again.packet);
    await device.link.ack({ transactionId: again.transactionId, status: 'succeeded' });
    await tenant.receiver.next();
    const transactionId = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi`, { json: WIFI }));
    await operator.visit(`/console/transactions/${transactionId}`);
    const stage = (name: string) => page.getByRole('listitem').filter({ hasText: name });
    await stage('Published').getByText('to the device').waitFor();
    device.link.puback((await device.link.command()).packet);
    await stage('PUBACK')
      .getByText(/^the device has the command/)
      .waitFor();
    await device.link.ack({ transactionId, status: 'processing', progress: 40 });
    await page.getByText('processing 40 %').first().waitFor();
    await device.link.ack({ transactionId, status: 'succeeded' });
    await tenant.receiver.next();
    await stage('Webhook').getByText('delivered').waitFor();
    t.same(operator.faults, []);
  });

  await t.test('a transaction shows its terms, the code of its early end, and a late result', async (t) => {
    const older = transactionIdOf(
      await tenant.api.put(`${device.path}/settings/wifi?expireIn=3600&answerWithin=600`, { json: WIFI }),
    );
    device.link.puback((await device.link.command()).packet);
    await operator.visit(`/console/transactions/${older}`);
    await page.getByText('Deliver by').waitFor();
    await page.getByText('600 s').waitFor();
    await page.getByText('Answer by').waitFor();
    const newer = transactionIdOf(await tenant.api.put(`${device.path}/settings/wifi?supersede=true`, { json: WIFI }));
    for (let commands = 0; commands < 2; commands += 1) device.link.puback((await device.link.command()).packet);
    await page.getByText('SUPERSEDED').first().waitFor();
    await page.getByRole('link', { name: String(newer), exact: true }).waitFor();
    for (const transactionId of [older, newer]) await device.link.ack({ transactionId, status: 'succeeded' });
    for (let webhooks = 0; webhooks < 2; webhooks += 1) await tenant.receiver.next();
    await page.reload();
    await page.getByText('Late result of the device').waitFor();
    t.same(operator.faults, []);
  });

  await t.test('the operator pauses a rollout, and only its application lets it go on', async (t) => {
    await operator.visit(`/console/rollouts/${rolled.running}`);
    await operatorPauses(t, page);
    t.same(operator.faults, []);
  });

  await t.test('messages are shown live, without passwords, and at most as many as a person can read', async (t) => {
    const watches = watchesDevice(page, fleet.deviceId);
    await operator.visit(`/console/devices/${fleet.deviceId}`);
    await watches;
    await operator.settled();
    await page.getByText('Live', { exact: true }).first().waitFor();
    const messages = page.getByRole('log', { name: 'Messages' });
    const areLeftOut = (): Promise<boolean> =>
      messages
        .getByText(/messages are left out/)
        .first()
        .waitFor({ timeout: 3_000 })
        .then(
          () => true,
          () => false,
        );
    // On a busy machine the messages of a burst may come so slowly that a person could read them.
    for (let burst = 1; burst <= 10; burst += 1) {
      for (let number = 0; number < 90; number += 1) device.link.publish('status', { lang: number % 2 ? 'en' : 'ja' });
      for (let number = 0; number < 90; number += 1) await device.link.next('puback');
      await messages.waitFor();
      await messages.evaluate((element) => {
        element.scrollTop = element.scrollHeight;
      });
      if (await areLeftOut()) break;
    }
    t.ok(await areLeftOut(), 'messages are left out');
    t.same(operator.faults, []);
  });

  await t.test('the keyboard alone reaches everything, and the focus comes back', async (t) => {
    await operator.visit('/console/devices');
    await operator.settled();
    // A message of the change before this test goes away in time, and its button with it.
    await page.locator('.toast').first().waitFor({ state: 'detached' });
    const wanted = await operator.focusable();
    const reached = new Set<string>();
    for (let presses = 0; presses < wanted.length + 5; presses += 1) {
      await page.keyboard.press('Tab');
      const { name, isSeen } = await operator.focused();
      reached.add(name);
      t.ok(isSeen, `one sees where one is: ${name}`);
    }
    t.same(
      wanted.filter((name) => !reached.has(name)),
      [],
    );
    const opener = page.getByRole('button', { name: 'Import from a file' });
    await opener.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    t.match(await page.evaluate('document.activeElement.closest("dialog") !== null'), true, 'the dialog has the focus');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    t.match(await page.evaluate('document.activeElement.innerText'), /Import from a file/);
    t.same(operator.faults, []);
  });

  const walk = { world, tenant, watched: operator };
  const { applicationId, packageName } = fleet;
  const counting = [
    '',
    'devices',
    'developers/dev',
    `applications/${applicationId}`,
    'webhooks',
    `rollouts/${rolled.rolloutId}`,
  ];
  for (const [fact, walked] of Object.entries({
    'a change in the console is in the audit log, once': changedOnce,
    'devices are imported from a file; faulty lines are named, and all are a file; credentials are saved once':
      faultyImport,
    'every number that is a link leads to as many rows': countsLead([...counting, `software/${packageName}`]),
    'what is sent again are the deliveries of the receiver in that row, and their number is said before': ownReceiver,
    'Back restores the filters of a list, and how far it was scrolled': backRestores,
    'an identifier is copied whole, with the keyboard, too': copied,
    'times are in local time or in UTC everywhere, and say their zone': zones,
    'numbers of devices are shown as they came': numbersStay,
    'the questions of an operator are answered within five clicks': questions,
    'each list is saved whole as a file': savedAsCsv,
    'software keys and rules of a developer are changed': softwareKeys,
    'certificates of an application are added, demanded and revoked': certificates,
    'an application gets another secret, and the one of before is ended': secretsOfApplication,
    'a note on a device is written, shown with its author, and deleted': notesOfDevice,
    'files that a device has uploaded are a table': (sub: Test, now: typeof walk) => uploadedFiles(sub, now, device),
    'the audit log says that it is whole': logIsChecked,
    'columns of a list are chosen': columnsChosen,
    'the head of a column turns the order of a list round': sortedByHead,
    'filters are added, changed and removed by keyboard': filtersByKeyboard,
    'filters are kept under a name, and everything is reached by keyboard': viewsAndPalette,
    'a person makes a code, and approves a device that asks with it': enrolmentByPerson,
    'an owner makes a device CA, a batch with it, and ends it': deviceCas,
    ...WALKS,
  })) {
    await t.test(fact, async (t) => {
      await walked(t, walk);
      t.same(operator.faults, []);
    });
  }

  await t.test('over a slow connection a page shows the current state, later', async (t) => {
    const transactionId = transactionIdOf(await tenant.api.get(`${device.path}/connectivity/state?type=bluetooth`));
    device.link.puback((await device.link.command()).packet);
    await device.link.ack({ transactionId, status: 'failed', error: { code: 'X', message: 'x' } });
    await tenant.receiver.next();
    await slowLine(t, walk, { transactionId });
    t.same(operator.faults, []);
  });

  await t.test('a page on another port of this host can do nothing with the session', async (t) => {
    await strangerPage(t, walk);
    t.same(operator.faults, [], 'one is still logged in');
  });

  await t.test('pages offer what a role permits, and follow its change and its end at once', async (t) => {
    await rolesHold(t, { ...walk, browser, fleet });
    t.same(operator.faults, []);
  });

  await t.test('an owner lets the administrator token be refused, and its sessions end', async (t) => {
    await tokenRefused(t, { ...walk, browser, fleet });
    await signIn();
    await heading('Transactions').waitFor();
    t.same(operator.faults, []);
  });

  await t.test('a developer comes from the sign-in to the webhook of a first command within ten clicks', async (t) => {
    const watched = await openPage(browser, http);
    await firstMinutes(t, { world, watched, check: (name) => checkPage(t, watched, name) });
    await watched.context.close();
  });

  await t.test('an application sees its own data, and may do what its token allows', async (t) => {
    const other = await world.createTenant('other');
    const stranger = await world.activatedDevice(other);
    const customer = await openPage(browser, http);
    customer.allow(objects);
    const theirs = customer.page;
    await theirs.goto('/console/');
    await theirs.getByLabel('Application').fill(tenant.applicationId);
    await theirs.getByLabel('Secret').fill('wrong');
    await theirs.getByRole('button', { name: 'Sign in' }).click();
    await theirs.getByRole('alert').waitFor();
    t.ok(customer.expected(/401/));
    await theirs.getByLabel('Secret').fill(tenant.secret);
    await theirs.getByRole('button', { name: 'Sign in' }).click();
    await theirs.getByRole('heading', { level: 1, name: 'Start' }).waitFor();
    for (const [name, h1] of [
      ['Start', 'Start'],
      ['Devices', 'Devices'],
      ['Transactions', 'Transactions'],
      ['Rollouts', 'Rollouts'],
      ['Webhooks', 'Webhooks'],
      ['Endpoints', 'Endpoints'],
      ['Events', 'Events'],
      ['Software', 'Software'],
      ['Settings', /./],
      ['Audit log', 'Audit log'],
    ] as const) {
      await theirs.setViewportSize(DESK);
      await theirs.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name }).click();
      await theirs.getByRole('heading', { level: 1, name: h1 }).waitFor();
      await checkPage(t, customer, `the application's ${name}`);
    }
    await customer.visit(`/console/devices/${fleet.deviceId}`);
    await theirs.getByRole('region', { name: 'Notes' }).getByText('abc⟨U+202E⟩fed').waitFor();
    await checkPage(t, customer, "the application's device");
    await customer.visit('/console/');
    await theirs.setViewportSize(DESK);
    await ownFleetLeads(t, { ...walk, watched: customer }, [fleet.deviceId, stranger.deviceId]);
    await rolloutsOfApplication(t, { tenant, watched: customer }, rolled, (name) => checkPage(t, customer, name));
    await theirs.setViewportSize(DESK);
    await theirs.getByRole('link', { name: 'Software' }).click();
    await theirs.getByRole('link', { name: fleet.packageName }).click();
    const put = theirs.waitForResponse((response) => response.request().method() === 'PUT');
    await wrongFile(t, theirs, customer.settled);
    t.ok((await put).url().startsWith(`${objects}/`), 'straight to the object store');
    await customer.settled();
    await theirs.getByRole('link', { name: 'Roll out' }).click();
    for (const name of ['version', 'ofVersion']) t.equal(await theirs.locator(`[name=${name}]`).inputValue(), '1.0.0');
    t.equal(await theirs.locator('[name=ofVersionIs]').inputValue(), 'versionNot', 'for devices without the version');
    await customer.settled();
    t.same(customer.faults, []);
    await ownSearch(customer, fleet, stranger.deviceId);
    await softwareGoes(t, customer);
    await reloadStays(t, { world, tenant, other, watched: customer });
    t.same(customer.faults, []);
    await customer.context.close();
  });

  await t.test('a logout ends the page, the API and the feed; so does the end of the session', async (t) => {
    const second = await operator.context.newPage();
    await second.goto('/console/transactions');
    await second.getByText('Live', { exact: true }).first().waitFor();
    await operator.visit('/console/devices');
    await operator.settled();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Administrator token').waitFor();
    await second.getByLabel('Administrator token').waitFor();
    t.same(await operator.context.cookies(), []);
    await second.close();
    operator.expected(/401/);
    t.same(operator.faults, []);

    await signIn();
    await heading('Devices').waitFor();
    await page.getByRole('link', { name: 'Health' }).click();
    await heading('Health').waitFor();
    await operator.settled();
    clock.advance(31 * MINUTE);
    // A request is needed: either the person makes it, or the page has made it before.
    const reload = page.getByRole('link', { name: 'Audit log' });
    await reload.dispatchEvent('click', undefined, { timeout: 1_000 }).catch(() => undefined);
    await page.getByText(/Your session has ended/).waitFor();
    t.ok(operator.expected(/401/));
    await signIn();
    await heading(/^(Health|Audit log)$/).waitFor();
    t.same(operator.faults, [], 'and after it one is where one was');
  });
});
