import t from 'tap';
import { standOf } from './stand.ts';

const files = (more = '', lang = 'ja-JP') => ({
  'rollouts.yaml': `rollouts:
  - label: language of Osaka
    operation: setLanguage
    parameters: { lang: ${lang} }
    devices: { tags: { site: osaka } }
    ratePerMinute: 60
    abort: { failedPercent: 10, minimumResults: 5 }
${more}`,
});

t.test('continuous rollouts come from files', async (t) => {
  const stand = await standOf(t);
  const { tenant, lapel, folder } = stand;
  const rollouts = async () => (await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts;
  /** Their states, in order: the clock stands still, so that of the ids means nothing. */
  const states = async () => (await rollouts()).map((one: { state: string }) => one.state).sort();
  const atWork = async () => (await rollouts()).find((one: { state: string }) => one.state !== 'cancelled');

  await t.test('a rollout is started once, and found by its label', async (t) => {
    stand.write(files());
    t.match(await stand.plan(), { code: 3, steps: [{ kind: 'rollout', name: 'language of Osaka', action: 'create' }] });
    const applied = await stand.apply();
    t.equal(applied.code, 0, applied.stderr);
    t.match(await rollouts(), [{ label: 'language of Osaka', state: 'running' }]);
    t.match(await stand.plan(), { code: 0, unchanged: 1 });
    await stand.apply();
    t.equal((await rollouts()).length, 1);
  });

  await t.test('its rules change while it is paused only', async (t) => {
    stand.write({ 'rollouts.yaml': files()['rollouts.yaml'].replace('60', '120') });
    const { rolloutId } = await atWork();
    t.match(await stand.plan(), {
      code: 1,
      refused: [{ reason: /ratePerMinute: it is running.*lapel rollout pause rol_/ }],
    });
    await lapel(`rollout pause ${rolloutId}`);
    t.match(await stand.plan(), {
      code: 3,
      steps: [{ action: 'change', changes: [{ field: 'ratePerMinute', before: 60, after: 120 }] }],
    });
    t.match(await stand.apply(), { code: 0 });
    t.match(await stand.plan(), { code: 0 });
    t.match((await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body, {
      state: 'paused',
      rules: { ratePerMinute: 120 },
    });
  });

  await t.test('what is fixed is replaced where the file permits it', async (t) => {
    stand.write(files('', 'en-GB'));
    t.match(await stand.plan(), {
      refused: [{ reason: /parameters, ratePerMinute: cannot be changed; with replace: true/ }],
    });
    stand.write(files('    replace: true\n', 'en-GB'));
    t.match(await stand.plan(), { code: 3, steps: [{ action: 'replace' }] });
    t.match(await stand.apply(), { code: 0 });
    t.same(await states(), ['cancelled', 'running']);
    t.match(await atWork(), { subject: 'en-GB' });
    t.match(await stand.plan(), { code: 0, unchanged: 1 });
  });

  await t.test('a cancel by hand is found, and the same rollout is started again', async (t) => {
    const { rolloutId } = await atWork();
    await lapel(`rollout cancel ${rolloutId}`);
    t.match(await stand.plan(), { code: 3, steps: [{ action: 'create' }] });
    t.match(await stand.apply(), { code: 0 });
    t.same(await states(), ['cancelled', 'cancelled', 'running']);
  });

  await t.test('an export makes files whose plan is empty', async (t) => {
    const other = `${folder}/exported`;
    await lapel(
      'rollout start --language fr --continuous --all --label other --window 22:00-05:00 --time-zone Asia/Tokyo',
    );
    const written = await lapel(`export -f ${other}`);
    t.equal(written.code, 0, written.stderr);
    const planned = await lapel(`plan -f ${other}`);
    t.match(planned, { code: 0, stdout: /nothing to change; 3 as the files say/ }, planned.stdout + planned.stderr);
  });

  await t.test('what no file names goes on, unless the list is exclusive', async (t) => {
    t.match(await stand.plan(), { notTouched: [{ kind: 'rollout', names: ['other'] }] });
    stand.write({ 'rollouts.yaml': 'exclusive: [rollouts]\nrollouts: []\n' });
    t.match((await stand.plan()).steps, [{ action: 'remove' }, { action: 'remove' }]);
    t.match(await stand.apply(), { code: 0 });
    t.same(new Set(await states()), new Set(['cancelled']));
    t.match(await stand.plan(), { code: 0 });
  });
});
