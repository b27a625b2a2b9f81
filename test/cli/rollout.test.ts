import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

t.test('lapel rollout', async (t) => {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const lapel = (line: string, more: Parameters<typeof run>[1] = {}) => run(line.split(' '), { env, ...more });
  const started = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await lapel(`rollout start ${line} --json`);
    t.equal(code, 0, stderr);
    return JSON.parse(stdout).rolloutId;
  };
  const read = async (rolloutId: string) => (await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`)).body;

  await t.test('options make the request', async (t) => {
    const rolloutId = await started(
      '--language ja-JP --tag site=osaka --tag site=kyoto --tag !old --percent 50 --salt x --stage 10% --stage 5 --succeeded 95 --soak 60 --approval --rate 60 --abort 10 --after 20 --expire-in 2h --label night',
    );
    t.match(await read(rolloutId), {
      operation: 'setLanguage',
      subject: 'ja-JP',
      label: 'night',
      selector: { tags: { site: ['osaka', 'kyoto'], old: null }, percent: 50, salt: 'x' },
      rules: { ratePerMinute: 60, abort: { failedPercent: 10, minimumResults: 20 }, expireIn: 7200 },
      stages: [{ continueWhen: { succeededPercent: 95, soakFor: 60 }, approval: true }, { approval: true }],
    });
    const file = join(t.testdir(), 'rollout.json');
    writeFileSync(
      file,
      JSON.stringify({ operation: 'setLanguage', parameters: { lang: 'de' }, devices: { percent: 0 } }),
    );
    t.match(await read(await started(`--file ${file} --label other`)), { subject: 'de', label: 'other', devices: 0 });
  });

  await t.test('a wrong option is named before anything is sent', async (t) => {
    for (const [line, text] of [
      ['', /--install: is needed/],
      ['--language ja --install com.a.x@1', /give only one of/],
      ['--install com.a.x', /"com.a.x" is not PACKAGE@VERSION/],
      ['--language ja --tag site', /"site" is no term/],
      ['--language ja --soak 5', /--soak: needs --succeeded/],
      ['--language ja --succeeded 5', /--stage: is needed/],
      ['--language ja --after 5', /--after: needs --abort/],
      ['--language ja --stage many', /"many" is not a whole number/],
    ] as const) {
      const { code, stderr } = await lapel(`rollout start ${line}`.trim());
      t.equal(code, 2, line);
      t.match(stderr, text);
    }
    t.match(
      (await lapel('rollout start --language ja --stage 60% --stage 60%')).stderr,
      /stages/,
      'the service names its own',
    );
  });

  await t.test('watch follows it to its end, and its exit code says how it ended', async (t) => {
    const rolloutId = await started(`--language fr --device ${device.deviceId}`);
    const watched = lapel(`rollout watch ${rolloutId}`);
    const { transactionId } = await device.link.command();
    await device.link.ack({ transactionId, status: 'succeeded' });
    const { code, stdout, stderr } = await watched;
    t.equal(code, 0, stderr);
    t.match(stderr, /running, stage 1 of 1/);
    t.match(stdout, /completed\nstage 1 of 1 .*1 succeeded/);

    const failing = lapel('rollout start --language es --abort 100 --after 1 --wait');
    const { transactionId: other } = await device.link.command();
    await device.link.ack({ transactionId: other, status: 'failed', error: { code: 'BROKEN', message: '' } });
    const paused = await failing;
    t.equal(paused.code, 1);
    t.match(paused.stderr, /is paused \(ABORT_RULE\); to let it go on: lapel rollout resume rol_/);
    t.match(paused.stderr, /devices have failed: BROKEN/);
  });

  await t.test('lists, shows and changes rollouts', async (t) => {
    const listed = await lapel('rollout list --state paused');
    t.match(listed.stdout, /paused \(ABORT_RULE\) +1\/1 +1 +0 +1/);
    const [rolloutId] = JSON.parse((await lapel('rollout list --state paused --json')).stdout).rollouts.map(
      (one: { rolloutId: string }) => one.rolloutId,
    );
    const shown = (await lapel(`rollout show ${rolloutId}`)).stdout;
    t.match(shown, /failed BROKEN: 1, for example/);
    t.match(shown, /paused \(stage 1\) by service: ABORT_RULE/);
    t.match(
      (await lapel(`rollout devices ${rolloutId} --state failed`)).stdout,
      new RegExp(`${device.deviceId}.*BROKEN`),
    );
    t.match((await lapel(`rollout approve ${rolloutId}`)).stderr, /its present stage asks for no approval/);
    t.match(
      (await lapel(`rollout retry ${rolloutId} --code BROKEN`)).stdout,
      /1 devices of .* wait for another command/,
    );
    t.match((await lapel(`rollout resume ${rolloutId}`)).stdout, /is running/);
    await device.link.command();
    t.match((await lapel(`rollout pause ${rolloutId}`)).stdout, /is paused \(REQUESTED\)/);
    t.match((await lapel(`rollout cancel ${rolloutId}`)).stdout, /is cancelled/);
    const again = await lapel(`rollout pause ${rolloutId}`);
    t.equal(again.code, 1);
    t.match(again.stderr, /the rollout is cancelled/);
  });
});
