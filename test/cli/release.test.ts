import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { createKeyPair } from '../software/signing.ts';
import { startWorld } from '../world.ts';
import { run } from './run.ts';

const APKS = join(import.meta.dirname, '../../tools/demo/apks');
const FILE = join(APKS, 'camera-1.0.0.apk');
const OTHER_FILE = join(APKS, 'camera-1.1.0.apk');
const COMMIT = '4f1d2c9a';
const DAY = 86_400_000;

/** A service with some devices, each of which answers its commands as it is told. */
async function startRelease(t: Test, { devices = 1 } = {}) {
  const world = await startWorld(t);
  const tenant = await world.createTenant();
  const all = [];
  while (all.length < devices) all.push(await world.activatedDevice(tenant));
  const links = new Map(all.map(({ deviceId, link }) => [deviceId, link]));
  const env = {
    LAPEL_APPLICATION: tenant.applicationId,
    LAPEL_APPLICATION_SECRET: tenant.secret,
    LAPEL_URL: world.service.addresses.http,
    NO_COLOR: '1',
  };
  const place = (name: string, text = ''): string => {
    const path = join(world.dataDir, name);
    writeFileSync(path, text);
    return path;
  };
  return {
    world,
    tenant,
    env,
    place,
    /** `lapel release` for the version 1.0.0; `file` is another file. */
    release: (line: string, more: Parameters<typeof run>[1] & { file?: string } = {}) =>
      run(['release', more.file ?? FILE, '--confirm', 'none', ...line.split(' ')], {
        ...more,
        env: { ...env, ...more.env },
      }),
    lapel: (line: string) => run(line.split(' '), { env }),
    rollouts: async () =>
      (await tenant.api.get(`${tenant.path}/rollouts`)).body.rollouts as {
        rolloutId: string;
        state: string;
        label: string;
      }[],
    /** The next command of each device gets this answer. */
    answer: (code?: string) =>
      Promise.all(
        [...links.values()].map(async (link) => {
          const command = await link.command();
          link.puback(command.packet);
          const { transactionId } = command;
          await link.ack(
            code === undefined
              ? { transactionId, status: 'succeeded' }
              : { transactionId, status: 'failed', error: { code, message: '' } },
          );
        }),
      ),
  };
}

const valuesIn = (path: string): Record<string, string> =>
  Object.fromEntries(
    readFileSync(path, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]),
  );

t.test('a release from nothing ends with the rollout, and a job that is started again finds it', async (t) => {
  const { release, answer, rollouts, place, world, tenant, lapel } = await startRelease(t);
  const [summary, variables] = [place('summary.md'), place('release.env', 'EARLIER=1\n')];
  const line = `--commit ${COMMIT} --all --summary ${summary} --variables ${variables}`;
  const [first] = await Promise.all([release(line), answer()]);
  t.equal(first.code, 0, first.stderr);
  const [only] = await rollouts();
  t.match(only, { state: 'completed', label: `release of commit ${COMMIT}` });
  t.match(first.stderr, /distribution started\n(?:note: .*\n)*rollout rol_\w+: http.*\/console\/rollouts\/rol_\w+\n/);
  t.match(first.stdout, /rollout rol_\w+ has completed: 1 device\n/);
  t.match(valuesIn(variables), {
    EARLIER: '1',
    RELEASE_STATUS: 'completed',
    RELEASE_VERSION: '1.0.0',
    RELEASE_ROLLOUT_ID: only?.rolloutId,
    RELEASE_SUCCEEDED: '1',
  });
  const text = readFileSync(summary, 'utf8');
  t.match(text, /^## com\.example\.camera 1\.0\.0: completed\n/);
  t.match(text, /\| 1 of 1 \| over \| 1 \| 1 succeeded \| none \| not looked at \|/);
  t.match(text, 'nobody has looked whether it came back');
  t.match(text, 'No health rule looks at the devices');

  const again = await release(line);
  t.match(again, { code: 0, stderr: /of this commit is there already; no other one is started/ });
  t.match(readFileSync(summary, 'utf8'), 'started by an earlier job');
  world.clock.leap(3 * DAY);
  await world.idle();
  t.match(await release(line), { code: 0 }, 'the key of the request is forgotten by now');
  const other = await release(`--commit 0badc0de --all`);
  t.match(other, { code: 0, stderr: new RegExp(`of commit ${COMMIT}, with the same file is there already`) });
  await tenant.renew();
  t.equal((await rollouts()).length, 1);

  await t.test('another file under the version is refused, before anything is changed', async (t) => {
    const refused = await release(`--commit 0badc0de --as 1.0.0 --all`, { file: OTHER_FILE });
    t.match(refused, { code: 1, stderr: /has another file \(SHA-256 \w{64}\) than this build \(\w{64}\)/ });
    t.match(refused.stderr, 'lapel version remove-file com.example.camera 1.0.0');
    t.equal((await rollouts()).length, 1);
  });

  await t.test('a rollout of the version that was reverted is no success any more', async (t) => {
    t.match(await lapel('version create com.example.camera 1.0.1'), { code: 0 });
    t.match(await lapel('app upload --version 1.0.1 '.concat(OTHER_FILE)), { code: 0 });
    t.match(await lapel('version update com.example.camera 1.0.1 --revert-of 1.0.0'), { code: 0 });
    const reverted = await lapel(`rollout revert ${only?.rolloutId}`);
    t.equal(reverted.code, 0, reverted.stderr);
    t.match(await release(line), { code: 1, stderr: /was reverted: rol_\w+ brings its devices back/ });
  });
});

t.test('two jobs at one moment make one rollout', async (t) => {
  const { release, answer, rollouts } = await startRelease(t);
  const [one, two, three] = await Promise.all([
    release(`--commit ${COMMIT} --all`),
    release(`--commit ${COMMIT} --all`),
    release('--commit 0badc0de --all'),
    answer(),
  ]);
  t.same(
    [one, two, three].map(({ code }) => code),
    [0, 0, 0],
    [one, two, three].map(({ stderr }) => stderr).join('\n'),
  );
  t.equal((await rollouts()).length, 1);
});

t.test('a job fails when a rule pauses the rollout, and says which, by what, and what next', async (t) => {
  const { release, answer, place } = await startRelease(t);
  const [summary, variables] = [place('summary.md'), place('release.env')];
  const line = `--commit ${COMMIT} --all --abort 10 --after 1 --summary ${summary} --variables ${variables}`;
  const [job] = await Promise.all([release(line), answer('BRO|KEN<b>')]);
  t.equal(job.code, 1);
  t.match(
    job.stderr,
    /lapel: rollout rol_\w+ is paused \(ABORT_RULE\)\n {2}ABORT_RULE: too many devices failed: 1 of 1 result failed/,
  );
  t.match(job.stderr, /devices have failed BRO\|KEN<b>: 1 device, for example \d{15}\n/);
  t.match(
    job.stderr,
    /next: bring its devices back: lapel rollout revert rol_\w+\n.*next: let it go on: lapel rollout resume rol_\w+/,
  );
  t.match(job.stderr, /in the console: http:.*\/console\/rollouts\/rol_\w+\n$/);
  t.match(valuesIn(variables), { RELEASE_STATUS: 'paused', RELEASE_FAILED: '1' });
  const text = readFileSync(summary, 'utf8');
  t.match(text, /: paused\n/);
  t.match(text, 'BRO\\|KEN&lt;b\\>', 'foreign text is shown, and makes no Markdown');
});

t.test('a cancelled rollout is never started again, but a new commit may release the version', async (t) => {
  const { release, rollouts, lapel } = await startRelease(t);
  const line = '--all --start-at 2199-01-01T00:00:00Z --timeout 0';
  const begun = await release(`--commit ${COMMIT} ${line}`);
  t.match(begun, { code: 3, stderr: /the time is over, and rollout rol_\w+ goes on \(scheduled/ });
  const [first] = await rollouts();
  await lapel(`rollout cancel ${first?.rolloutId}`);
  t.match(await release(`--commit ${COMMIT} ${line}`), {
    code: 1,
    stderr: /was cancelled by application, and a job never starts it again/,
  });
  t.match(await release(`--commit 0badc0de ${line}`), { code: 3 });
  t.equal((await rollouts()).length, 2);

  await t.test('a rollout whose label somebody changed is not doubled', async (t) => {
    const second = (await rollouts()).find(({ state }) => state === 'scheduled');
    await lapel(`rollout change ${second?.rolloutId} --label mine`);
    const refused = await release(`--commit 0badc0de ${line}`);
    t.match(refused, { code: 1, stderr: /may be the one of this release: somebody changed it, and its label is mine/ });
    t.equal((await rollouts()).length, 2);
  });
});

t.test('a stage that waits for an approval ends the job, or lets it wait, as it is asked', async (t) => {
  const { release, answer, lapel, rollouts } = await startRelease(t, { devices: 2 });
  const line = `--commit ${COMMIT} --all --stage 1 --approval`;
  const looked = Promise.withResolvers<void>();
  const onWrite = (text: string): void => {
    if (text.includes('waits for an approval')) looked.resolve();
  };
  const ending = release(`${line} --on-approval end`);
  void answer();
  t.match(await ending, {
    code: 0,
    stdout:
      /rollout rol_\w+ waits for an approval\n +stage 1 waits for an approval: .*to approve it: lapel rollout approve/,
  });
  const waiting = release(line, { onWrite });
  await looked.promise;
  const [only] = await rollouts();
  t.match(await lapel(`rollout approve ${only?.rolloutId} --stage 1`), { code: 0 });
  t.match(await waiting, { code: 0, stdout: /has completed: 2 devices\n/ });
});

t.test('a job that is cancelled leaves the rollout as it is, or pauses it', async (t) => {
  const { release, rollouts, place, lapel } = await startRelease(t);
  const variables = place('release.env');
  for (const [what, state, says] of [
    ['leave', 'running', /goes on without it\.\n/],
    ['pause', 'paused', /is paused\.\n +lapel rollout resume/],
  ] as const) {
    const controller = new AbortController();
    const job = await release(`--commit ${COMMIT} --all --on-interrupt ${what} --variables ${variables}`, {
      interrupted: controller.signal,
      onWrite: (text) => text.includes('running, stage') && controller.abort(),
    });
    t.match(job, { code: 130, stderr: says });
    const [only] = await rollouts();
    t.match(only, { state });
    t.match(valuesIn(variables), { RELEASE_STATUS: 'interrupted', RELEASE_ROLLOUT_ID: only?.rolloutId });
  }
  t.equal((await rollouts()).length, 1);
  t.match(await release(`--commit ${COMMIT} --all`), { code: 1, stderr: /REQUESTED: application asked for it/ });
  const controller = new AbortController();
  controller.abort();
  const early = await release(`--commit ${COMMIT} --name fleet --all`, { interrupted: controller.signal });
  t.match(early, { code: 130, stderr: /before a rollout was started: nothing goes on/ });
  t.match(await lapel('rollout list'), { code: 0 });
});

t.test('a version that must be signed is signed with the key of the environment, or elsewhere', async (t) => {
  const { release, answer, lapel, place, world, tenant } = await startRelease(t);
  const key = createKeyPair();
  const admin = world.admin();
  const keys = `/admin/v1/developers/${tenant.developerId}/software-keys`;
  await admin.post(keys, { json: { name: 'release', publicKey: key.publicKey } });
  await admin.patch(`/admin/v1/developers/${tenant.developerId}`, { json: { softwareSignatures: 'required' } });
  const unsigned = await release(`--commit ${COMMIT} --all`);
  t.match(unsigned, { code: 1, stderr: /not signed/ });
  const [job] = await Promise.all([
    release(`--commit ${COMMIT} --all`, { env: { LAPEL_SIGNING_KEY: key.privateKey } }),
    answer(),
  ]);
  t.match(job, { code: 0, stderr: new RegExp(`signed with key ${key.keyId}`) });
  t.notMatch(job.stdout + job.stderr, 'PRIVATE');
  const made = await lapel(`app sign ${FILE} --key ${place('release.pem', key.privateKey)} --no-upload --json`);
  const stored = await release(
    `--commit ${COMMIT} --name second --all --signature ${place('signature.json', made.stdout)} --timeout 0`,
  );
  t.match(stored, { code: 3, stderr: new RegExp(`signed with key ${key.keyId}`) });
});

t.test('what a job lacks is named before anything is sent', async (t) => {
  const { release, place, rollouts, tenant } = await startRelease(t);
  for (const [line, text, env = {}] of [
    ['--all', /--commit: is needed \(or GITHUB_SHA, CI_COMMIT_SHA\)/],
    ['--commit $(id) --all', /--commit: is 1 to 64 letters/],
    [`--commit ${COMMIT} --name a;b --all`, /--name: is 1 to 24 letters/],
    [`--commit ${COMMIT}`, /--all: is needed to release to the whole fleet/],
    ['--all --key none.pem', /--key: there is no file/, { GITHUB_SHA: COMMIT }],
    [
      '--all',
      /LAPEL_SIGNING_KEY: the variable has no private key/,
      { CI_COMMIT_SHA: COMMIT, LAPEL_SIGNING_KEY: 'xyzzy' },
    ],
    [`--commit ${COMMIT} --all --signature ${place('x.json', '{}')}`, /--signature: .* has no signature/],
    [`--commit ${COMMIT} --all --summary ${join('/nonexistent', 'x')}`, /--summary: ENOENT/],
    [`--commit ${COMMIT} --file ${place('r.json', '{"devices":{},"label":"x"}')}`, /--file: has a label/],
    [
      `--commit ${COMMIT} --file ${place('c.json', '{"devices":{},"continuous":true}')}`,
      /--file: a continuous rollout never completes/,
    ],
  ] as const) {
    const job = await release(line, { env });
    t.match(job, { code: 2, stderr: text }, line);
    t.notMatch(job.stderr, 'xyzzy');
  }
  t.match(await release(`--commit ${COMMIT} --all`, { file: place('text.apk', 'no archive') }), {
    code: 2,
    stderr: /text\.apk: is not an APK file/,
  });
  const wrong = await release(`--commit ${COMMIT} --all`, { env: { LAPEL_APPLICATION_SECRET: 'no such secret' } });
  t.match(wrong, { code: 1, stderr: /get an access token .*: 401/ });
  t.notMatch(wrong.stderr, 'no such secret');
  t.match(await release(`--commit ${COMMIT} --tag no=such`), {
    code: 1,
    stderr: /no device matches, so rollout rol_\w+ had nothing to do/,
  });
  t.equal((await rollouts()).length, 1);
  t.equal((await tenant.api.get(`${tenant.path}/packages`)).body.packages.length, 1);
});
