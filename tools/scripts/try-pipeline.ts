// npm run try -- pipeline: makes the release package, and plays the jobs of docs/pipelines.md from nothing, as the runners of
// GitHub and GitLab do, against a service of its own with simulated cameras. It prints the logs in full.
import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lapelPackage } from './release/lapel-package.ts';
import { tarball } from './release/tarball.ts';
import { createAttempts } from './trial/attempts.ts';
import { trialFolder } from './trial/folder.ts';
import { environmentOf } from './trial/programs.ts';
import { documentedJobs, ROOT } from './try-pipeline/documented.ts';
import { runOnGitHub } from './try-pipeline/github-runner.ts';
import { runOnGitLab } from './try-pipeline/gitlab-runner.ts';
import { folderIn } from './try-pipeline/runner.ts';
import { startPipelineWorld } from './try-pipeline/world.ts';

const LONGEST_MS = 10 * 60_000;
const CAMERAS = 10;
const APK = 'camera-1.1.0.apk';
const [COMMIT, OTHER_COMMIT] = ['4f1d2c9a3b5e6d7f8091a2b3c4d5e6f708192a3b', '0badc0de3b5e6d7f8091a2b3c4d5e6f708192a3b'];

const folder = trialFolder('pipeline', LONGEST_MS);
const print = (text: string): void => void process.stdout.write(text);
const { attempt, conclude } = createAttempts();
const archive = join(folder, 'lapel.tgz');
await attempt('the release package is made', async () => writeFileSync(archive, tarball(await lapelPackage())));

await using world = await startPipelineWorld(folderIn(folder, 'world'), CAMERAS);
const { applicationId, secret } = world.application;
const env = environmentOf(folderIn(folder, 'home'), dirname(process.execPath));
const { gitHub, gitLab } = documentedJobs();

/** An empty folder of a job, with what its earlier steps have brought. */
function jobFolder(name: string, apk = APK): string {
  const made = folderIn(folder, name);
  const workspace = folderIn(made, 'workspace');
  copyFileSync(archive, join(workspace, 'lapel.tgz'));
  copyFileSync(join(ROOT, 'tools/demo/apks', apk), join(workspace, APK));
  return made;
}

const onGitHub = (name: string, sha: string, apk = APK, more: Record<string, string> = {}) => {
  print(`\n=== GitHub: ${name}\n`);
  const contexts = {
    'github.sha': sha,
    'vars.LAPEL_URL': world.url,
    'vars.LAPEL_APPLICATION': applicationId,
    'secrets.LAPEL_APPLICATION_SECRET': secret,
  };
  return runOnGitHub(
    { ...gitHub, with: { ...gitHub.with, ...more }, contexts },
    { folder: jobFolder(`github ${name}`, apk), env, print },
  );
};
const onGitLab = (name: string, sha: string) => {
  print(`\n=== GitLab: ${name}\n`);
  const project = {
    CI_COMMIT_SHA: sha,
    LAPEL_URL: world.url,
    LAPEL_APPLICATION: applicationId,
    LAPEL_APPLICATION_SECRET: secret,
  };
  const job = {
    ...gitLab,
    project,
    masked: ['LAPEL_APPLICATION_SECRET'],
  };
  return runOnGitLab(job, { folder: jobFolder(`gitlab ${name}`), env, print });
};
const rollouts = async (): Promise<number> =>
  ((await world.cameras.request('listRollouts')) as { rollouts: unknown[] }).rollouts.length;

await attempt('a pipeline releases a version from nothing', async () => {
  const { exitCode, outputs, summary } = await onGitHub('from nothing', COMMIT);
  print(`\n--- outputs\n${JSON.stringify(outputs, null, 2)}\n--- summary\n${summary}`);
  assert.equal(exitCode, 0);
  assert.equal(outputs['status'], 'completed');
  for (const { state } of world.cameras.devices) assert.equal(state.software['com.example.camera']?.version, '1.1.0');
  return `${CAMERAS} cameras have 1.1.0`;
});

await attempt('a job that is started again makes no second rollout', async () => {
  const { exitCode } = await onGitHub('again', COMMIT);
  assert.equal(exitCode, 0);
  assert.equal(await rollouts(), 1);
});

await attempt('another file under the version is refused', async () => {
  const options = `${gitHub.with['options']}--as 1.1.0\n`;
  const { exitCode, log } = await onGitHub('another file', OTHER_COMMIT, 'camera-1.0.0.apk', { options });
  assert.equal(exitCode, 1);
  assert.match(log, /a version never changes its file/);
});

await attempt('a job fails when a rule pauses the rollout', async () => {
  // Android refuses a lower version code, so this release is a bad one.
  const { exitCode, outputs, summary } = await onGitHub('a bad release', OTHER_COMMIT, 'camera-1.0.0.apk');
  print(`\n--- summary\n${summary}`);
  assert.equal(exitCode, 1);
  assert.equal(outputs['status'], 'paused');
  assert.equal(await rollouts(), 2);
});

await attempt('a job of GitLab finds the rollout of the other runner', async () => {
  const { exitCode, outputs, summary } = await onGitLab('the same commit', COMMIT);
  print(`\n--- dotenv\n${JSON.stringify(outputs, null, 2)}\n--- summary\n${summary}`);
  assert.equal(exitCode, 0);
  assert.equal(await rollouts(), 2);
});

process.exitCode = conclude() ? 0 : 1;
