import type { Page } from 'playwright-core';
import type { Test } from 'tap';
import type { Tenant } from '../world.ts';
import type { Watched } from './browser.ts';
import type { HostileRollout } from './hostile-rollout.ts';

interface Walk {
  tenant: Tenant;
  /** The page of the application, which may make changes. */
  watched: Watched;
}

/** Goes to another page without loading the console again, because the token of an application is in memory only. */
const goTo = (page: Page, path: string): Promise<unknown> =>
  page.evaluate(
    `history.pushState(null, '', ${JSON.stringify(`/console/${path}`)}); dispatchEvent(new PopStateEvent('popstate'))`,
  );

/** Tags are changed, added and removed on the page of the device, and lead to the devices that have them. */
async function tagsAreEdited(t: Test, { tenant, watched: { page } }: Walk, deviceId: string): Promise<void> {
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
  await page.getByRole('button', { name: 'Tag all that match ...' }).click();
  await dialog.getByText('Change the tags of 1 device?').waitFor();
  await dialog.getByLabel('Set').fill('wave=7');
  await dialog.getByRole('button', { name: 'Change the tags' }).click();
  await page.getByText('The tags of 1 device were changed.').waitFor();
  t.match((await tenant.api.get(`${tenant.path}/devices/${deviceId}/tags`)).body, { wave: '7' });
  await page.getByRole('link', { name: 'Roll out to all that match' }).click();
  await page.getByRole('heading', { level: 1, name: 'Start a rollout' }).waitFor();
  t.equal(await page.locator('form [name=ofTags]').inputValue(), 'ring=a, b', 'the form has the filters of the list');
  await page.getByRole('status').getByText('1 device matches').waitFor();
  await page.goBack();
  await page.getByText('Tags: ring=a, b').waitFor();
  await page.getByRole('button', { name: 'Tags: ring=a, b' }).click();
  await page.getByRole('textbox', { name: /^Tags/ }).fill('site=kyoto, !ring');
  await page.keyboard.press('Enter');
  await page.getByText('No matching devices').waitFor();
}

/** The form says how many devices match, keeps what was typed when the request fails, and starts the rollout. */
async function rolloutIsStarted(t: Test, { tenant, watched }: Walk, deviceId: string): Promise<void> {
  const { page } = watched;
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Rollouts' }).click();
  await page.getByRole('link', { name: 'Start a rollout' }).click();
  const words = page.getByRole('status').getByText('connected now.');
  const sum = (await tenant.api.post(`${tenant.path}/devices/count`, { json: { devices: {} } })).body;
  await words.getByText(`${sum.matching} devices match`).waitFor();
  const field = (name: string) => page.locator(`form [name=${name}]`);
  const [tags, start] = [field('ofTags'), page.getByRole('button', { name: /^Start the/ })];
  await tags.fill('site');
  await page.getByRole('alert').getByText('"site" is no tag').waitFor();
  await tags.fill('site=kyoto');
  await words.getByText('1 device matches').waitFor();
  await field('package').fill('com.example.unknown');
  await field('version').fill('1.0.0');
  await start.click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('alert').first().waitFor();
  t.ok(watched.expected(/404/), 'the package is unknown, as the preview says');
  await dialog.getByRole('button', { name: 'Start the rollout' }).click();
  await dialog.getByRole('alert').nth(1).waitFor();
  t.ok(watched.expected(/404/));
  await dialog.getByRole('button', { name: 'Back' }).click();
  t.equal(await field('package').inputValue(), 'com.example.unknown', 'it is still there');
  t.equal(await tags.inputValue(), 'site=kyoto');
  await field('operation').selectOption({ label: 'Set language' });
  await field('lang').fill('ko-KR');
  await field('label').fill('by hand');
  await page.getByRole('button', { name: 'Add a stage' }).click();
  await page.getByText('More rules').click();
  await field('windowFrom').fill('00:00');
  await field('windowTo').fill('00:00');
  await field('of').selectOption({ label: 'These devices' });
  await field('ofDevices').fill(`${deviceId}\n`);
  await words.getByText('1 device matches').waitFor();
  await start.click();
  // The preview is the answer of the service to the same request, as a dry run.
  await dialog.getByText('Set language, for 1 device, 1 of them connected now.').waitFor();
  await dialog.getByText('The first stage has 1 device, the last one has 0 devices.').waitFor();
  const warnings = dialog.getByRole('list', { name: 'Warnings' });
  await warnings.getByText('The abort rule can never stop it: it needs 20 results').waitFor();
  await warnings
    .getByText(/^The rollout .* changes the same on 1 device\.$/)
    .first()
    .waitFor();
  // The first answer is lost: the rollout exists, and the page does not know it.
  await page.route(
    '**/rollouts',
    async (route) => {
      await route.fetch();
      await route.abort();
    },
    { times: 1 },
  );
  await dialog.getByRole('button', { name: 'Start the rollout' }).click();
  await dialog.getByRole('alert').getByText('The service cannot be reached.').waitFor();
  t.ok(watched.expected(/ERR_FAILED/));
  await dialog.getByRole('button', { name: 'Start the rollout' }).click();
  await page.getByRole('heading', { level: 1, name: 'by hand' }).waitFor();
  const { rollouts } = (await tenant.api.get(`${tenant.path}/rollouts?deviceId=${deviceId}`)).body;
  t.equal(rollouts.filter(({ label }: { label: string }) => label === 'by hand').length, 1, 'it was started once');
  const rolloutId = page.url().split('/').at(-1)!;
  const { body } = await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`);
  t.match(body, {
    label: 'by hand',
    subject: 'ko-KR',
    selector: { devices: [deviceId] },
    stages: [
      { planned: 1, continueWhen: { succeededPercent: 95, soakFor: 86_400 } },
      { planned: 0, continueWhen: { succeededPercent: 95, soakFor: 3_600 } },
    ],
    rules: {
      abort: { failedPercent: 10, minimumResults: 20 },
      window: { from: '00:00', to: '00:00' },
      expireIn: 604_800,
      answerWithin: 3_600,
    },
  });
}

/** A rollout that has paused itself is changed, tries again, goes on, is approved and is cancelled. */
async function rolloutIsGuided(
  t: Test,
  { tenant, watched }: Walk,
  { rolloutId, succeed }: HostileRollout,
): Promise<void> {
  const { page } = watched;
  const read = async () => (await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body;
  const { rules } = await read();
  await goTo(page, `rollouts/${rolloutId}`);
  const actions = page.locator('.head > .row');
  const act = (name: string): Promise<void> => actions.getByRole('button', { name, exact: true }).click();
  const dialog = page.getByRole('dialog');
  const confirm = async (name: string): Promise<void> => {
    await dialog.getByRole('button', { name }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await page.getByText('The first thing to do is to bring its devices back.').waitFor();
  t.same((await actions.getByRole('button').allTextContents()).slice(0, 2), ['Revert', 'Resume']);
  await act('Change rules');
  await dialog.getByLabel('Commands a minute').fill('');
  await dialog.getByLabel('Not before so many').fill('7');
  await confirm('Change');
  const { ratePerMinute: _, ...others } = rules;
  t.same((await read()).rules, { ...others, abort: { ...rules.abort, minimumResults: 7 } }, 'the rest stays');
  await page.getByRole('region', { name: 'Errors' }).getByRole('button', { name: 'Retry' }).click();
  await confirm('Try again');
  await page.getByText('1 device waits for another command.').waitFor();
  t.equal(await actions.getByRole('button', { name: 'Pause' }).count(), 0, 'it is paused already');
  await act('Resume');
  await dialog.getByText('No device has failed so far.').waitFor();
  await confirm('Let it go on');
  await succeed();
  await page.getByText(/^Stage 1 has its successes. The next stage waits for .*an approval\.$/).waitFor();
  await act('Approve');
  await confirm('Approve');
  await page.getByText('approved', { exact: true }).waitFor();
  await act('Cancel');
  await dialog.getByText(/1 device will get no command/).waitFor();
  await confirm('Cancel the rollout');
  await page.locator('.head').getByText('cancelled').waitFor();
  t.match(await read(), { state: 'cancelled', history: [{ event: 'cancelled' }, { event: 'approved' }] });
  t.same(await actions.getByRole('button').allTextContents(), ['Revert'], 'only its devices can be brought back');
  await act('Revert');
  await dialog.getByRole('button', { name: 'Revert' }).click();
  await dialog.getByRole('alert').getByText('their former settings are not known').waitFor();
  t.ok(watched.expected(/409/));
  await dialog.getByRole('button', { name: 'Back' }).click();
}

/** An application edits tags, starts a rollout, looks at its pages, and guides the one that has paused itself to its end. */
export async function rolloutsOfApplication(
  t: Test,
  walk: Walk,
  rolled: HostileRollout,
  check: (name: string) => Promise<void>,
): Promise<void> {
  await tagsAreEdited(t, walk, rolled.runs.deviceId);
  await rolloutIsStarted(t, walk, rolled.runs.deviceId);
  for (const path of [
    `rollouts/${rolled.rolloutId}`,
    'rollouts/new?operation=installSoftware&package=com.example.camera&version=1.0.0',
    `devices/${rolled.failed.deviceId}`,
  ]) {
    await goTo(walk.watched.page, path);
    await check(path);
  }
  await walk.watched.page.setViewportSize({ width: 1280, height: 800 });
  await rolloutIsGuided(t, walk, rolled);
}

/** On the page of a running rollout the operator pauses it, and can then only cancel it. */
export async function operatorPauses(t: Test, page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Pause' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Only the application can let the rollout go on.').waitFor();
  await dialog.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('The operator has paused it.').waitFor();
  t.same(await page.locator('.head > .row').getByRole('button').allInnerTexts(), ['Cancel']);
}
