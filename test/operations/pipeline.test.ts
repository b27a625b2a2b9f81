import { chmodSync, copyFileSync, existsSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { documentedJobs, ROOT } from '@lapel/tools/scripts/try-pipeline/documented';
import { runOnGitHub } from '@lapel/tools/scripts/try-pipeline/github-runner';
import { runOnGitLab } from '@lapel/tools/scripts/try-pipeline/gitlab-runner';
import { folderIn, type Machine } from '@lapel/tools/scripts/try-pipeline/runner';
import { startPipelineWorld } from '@lapel/tools/scripts/try-pipeline/world';
import t, { type Test } from 'tap';

const COMMIT = '4f1d2c9a3b5e6d7f8091a2b3c4d5e6f708192a3b';
const OTHER_COMMIT = '0badc0de3b5e6d7f8091a2b3c4d5e6f708192a3b';
const OPTIONS = '--all\n--abort 10\n--after 1\n--confirm none\n';
const { gitHub, gitLab } = documentedJobs();

/** A service with cameras, and runners that have the command of this checkout. */
async function startRunners(t: Test, cameras: number) {
  const folder = t.testdir();
  const world = await startPipelineWorld(folderIn(folder, 'world'), cameras);
  t.teardown(() => world[Symbol.asyncDispose]());
  const { applicationId, secret } = world.application;
  const env = {
    HOME: folderIn(folder, 'home'),
    PATH: `${folderIn(folder, 'bin')}:${dirname(process.execPath)}:${process.env['PATH']}`,
  };
  let jobs = 0;
  function machine(file: string, apk: string, more: Partial<Machine>): Machine {
    jobs += 1;
    const made = folderIn(folder, `job ${jobs}`);
    copyFileSync(join(ROOT, 'tools/demo/apks', apk), join(folderIn(made, 'workspace'), file));
    return { folder: made, env, print: () => undefined, ...more };
  }
  return {
    folder,
    world,
    rollouts: async () => ((await world.cameras.request('listRollouts')) as { rollouts: { state: string }[] }).rollouts,
    onGitHub: (
      {
        sha = COMMIT,
        apk = 'camera-1.0.0.apk',
        hasSummary = true,
        ...more
      }: { sha?: string; apk?: string; hasSummary?: boolean; secret?: string } & Record<string, string | boolean> = {},
      machineToo: Partial<Machine> = {},
    ) => {
      const { secret: given = secret, ...inputs } = more as Record<string, string>;
      const file = inputs['file'] ?? 'camera.apk';
      const contexts = {
        'github.sha': sha,
        'vars.LAPEL_URL': world.url,
        'vars.LAPEL_APPLICATION': applicationId,
        'secrets.LAPEL_APPLICATION_SECRET': given,
      };
      const lapel = join(ROOT, 'bin/lapel.mjs');
      const own = { ...gitHub.with, lapel, file, options: OPTIONS, 'on-cancel': 'leave', ...inputs };
      return runOnGitHub({ action: gitHub.action, with: own, contexts, hasSummary }, machine(file, apk, machineToo));
    },
    onGitLab: (variables: Record<string, string> = {}) => {
      const lapel = { LAPEL_URL: world.url, LAPEL_APPLICATION: applicationId, LAPEL_APPLICATION_SECRET: secret };
      const own = { ...gitLab.variables, RELEASE_FILE: 'camera.apk', RELEASE_LAPEL: '', RELEASE_OPTIONS: OPTIONS };
      const project = { CI_COMMIT_SHA: COMMIT, ...lapel };
      const machineOfJob = machine('camera.apk', 'camera-1.0.0.apk', {});
      const bin = folderIn(folder, 'lapel');
      copyCommand(bin);
      return runOnGitLab(
        { ...gitLab, variables: { ...own, ...variables }, project, masked: ['LAPEL_APPLICATION_SECRET'] },
        { ...machineOfJob, env: { ...env, PATH: `${bin}:${env.PATH}` } },
      );
    },
  };
}

/** A folder of PATH with the command of this checkout. */
function copyCommand(folder: string): void {
  const file = join(folder, 'lapel');
  if (existsSync(file)) return;
  writeFileSync(
    file,
    `#!/bin/sh\nexec "${process.execPath}" --disable-warning=ExperimentalWarning "${join(ROOT, 'src/main.ts')}" "$@"\n`,
  );
  chmodSync(file, 0o755);
}

t.test('the action and the include release a version once, however often jobs start', async (t) => {
  t.setTimeout(110_000);
  const { folder, world, rollouts, onGitHub, onGitLab } = await startRunners(t, 3);
  const [one, two] = await Promise.all([onGitHub(), onGitHub()]);
  t.equal(one.exitCode, 0, one.log);
  t.equal(two.exitCode, 0, two.log);
  t.equal((await rollouts()).length, 1, 'two at one moment');
  t.match(one.outputs, {
    status: 'completed',
    version: '1.0.0',
    'rollout-id': /^rol_/,
    page: /\/console\/rollouts\/rol_/,
  });
  t.match(one.summary, /^## com\.example\.camera 1\.0\.0: completed\n/);
  t.same(
    world.cameras.devices.map(({ state }) => state.software['com.example.camera']?.version),
    ['1.0.0', '1.0.0', '1.0.0'],
  );
  const again = await onGitHub();
  t.match(again, { exitCode: 0, log: /of this commit is there already; no other one is started/ });
  const gitLabToo = await onGitLab();
  t.match(
    gitLabToo,
    { exitCode: 0, outputs: { RELEASE_STATUS: 'completed', RELEASE_ROLLOUT_ID: one.outputs['rollout-id'] } },
    gitLabToo.log,
  );
  t.match(gitLabToo.summary, 'started by an earlier job');
  t.equal((await rollouts()).length, 1);
  for (const { log } of [one, two, again, gitLabToo]) t.notMatch(log, world.application.secret);

  await t.test('a runner without a file for summaries is served, too', async (t) => {
    t.match(await onGitHub({ hasSummary: false }), { exitCode: 0, summary: '', outputs: { status: 'completed' } });
  });

  await t.test('text in an input is data, whatever it contains', async (t) => {
    const odd = '$(touch hit) `touch hit`; "a\' b.apk';
    t.match(await onGitHub({ file: odd }), { exitCode: 0 });
    for (const inputs of [
      { commit: '$(touch hit)' },
      { timeout: '1; touch hit' },
      { options: '--all\n--label x; touch hit' },
      { options: `${OPTIONS}touch hit` },
      { options: '--options --all' },
      { 'on-approval': "end' || touch hit" },
      { application: '::set-output name=status::completed' },
    ]) {
      const { exitCode, outputs } = await onGitHub(inputs);
      t.not(exitCode, 0, JSON.stringify(inputs));
      t.not(outputs['status'], 'completed');
    }
    t.match(await onGitLab({ RELEASE_FILE: '$(touch hit)' }), { exitCode: 2 });
    const hits = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('/hit'));
    t.same(hits, []);
  });

  await t.test('a wrong secret fails the job, and stays out of its log', async (t) => {
    const secret = 'a%20wrong secret';
    const { exitCode, log, outputs } = await onGitHub({ secret });
    t.match(
      { exitCode, log, outputs },
      { exitCode: 1, log: /cannot get an access token/, outputs: { status: 'failed' } },
    );
    t.notMatch(log, secret);
  });

  await t.test('a bad release pauses its rollout, and the job fails with rule and evidence', async (t) => {
    for (const camera of world.cameras.devices) camera.on('installSoftware', () => ({ fail: 'BROKEN' }));
    const job = await onGitHub({ sha: OTHER_COMMIT, apk: 'camera-1.1.0.apk' });
    t.match(job, { exitCode: 1, outputs: { status: 'paused', version: '1.1.0' } });
    t.match(job.log, /ABORT_RULE: too many devices failed: \d of \d results? failed/);
    t.match(job.log, /next: bring its devices back: lapel rollout revert rol_/);
    t.match(job.summary, ': paused\n');
  });
});

t.test('a job outlives a restart of the service, and its cancel reaches the command', async (t) => {
  t.setTimeout(110_000);
  const { world, rollouts, onGitHub } = await startRunners(t, 1);
  const [camera] = world.cameras.devices;
  const released = Promise.withResolvers<void>();
  camera.on('installSoftware', () => released.promise);
  for (const [what, state, signal] of [
    ['leave', 'running', 'SIGTERM'],
    ['pause', 'paused', 'SIGINT'],
  ] as const) {
    const job = await onGitHub(
      { 'on-cancel': what },
      { onOutput: (text, step) => text.includes('running, stage') && step.kill(signal) },
    );
    t.match(
      job,
      { exitCode: signal === 'SIGINT' ? 130 : 143, outputs: { status: 'interrupted', 'rollout-id': /^rol_/ } },
      job.log,
    );
    t.match(await rollouts(), [{ state }]);
  }
  const [only] = (await rollouts()) as { rolloutId: string; state: string }[];
  await world.cameras.request('resumeRollout', { rolloutId: only?.rolloutId });
  let restarted: Promise<void> | undefined;
  const job = await onGitHub(
    {},
    {
      onOutput: (text) => {
        if (text.includes('running, stage')) restarted ??= world.restart(released.promise);
        if (text.includes('trying again')) released.resolve();
      },
    },
  );
  await restarted;
  t.match(job, { exitCode: 0, log: /nobody answers .*; trying again\n/ }, job.log);
});
