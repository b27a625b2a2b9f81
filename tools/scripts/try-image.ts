// npm run try -- image: makes a release, builds the images of the service and of the simulator from it, and runs both as users
// do. It needs root and Debian's packages buildah, podman, runc and debootstrap, and the default ports of the service, so it
// is not part of `npm test`.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { findPostgres, startPostgres } from '../harness/postgres-server.ts';
import { MANIFEST } from './release/lockfile.ts';
import { createAttempts } from './trial/attempts.ts';
import { tryCluster } from './try-image/cluster.ts';
import { createTools, NPM, USER } from './try-image/tools.ts';

const PROGRAMS = ['buildah', 'podman', 'runc', 'debootstrap'];
const SERVICE = 'localhost/lapel';
const SIMULATOR = 'localhost/lapel-sim';
const ADMIN = 'http://localhost:8081';
const START_MS = 30_000;

const tools = createTools();
const { podman, limits } = tools;
const { attempt, conclude } = createAttempts();

/** Only the volume can be written, and the process has no privileges. */
const HARDENED = ['--read-only', '--read-only-tmpfs=false', '--cap-drop=all', '--security-opt=no-new-privileges'];

async function becomesReady(): Promise<void> {
  const until = performance.now() + START_MS;
  for (;;) {
    const status = await fetch(`${ADMIN}/readyz`).then(
      (answer) => answer.status,
      () => 0,
    );
    if (status === 200) return;
    if (performance.now() > until) throw new Error(`/readyz: ${status}\n${await podman(['logs', 'lapel'])}`);
    await pause(100);
  }
}

/** Starts the service as `docker run -d -v data:/data lapel` does. */
async function start(volume: string, ...more: string[]): Promise<void> {
  const named = ['--detach', '--name', 'lapel', '-v', `${volume}:/data`];
  await podman(['run', ...named, ...limits, ...HARDENED, ...more, SERVICE]);
  await becomesReady();
}

const inside = (...command: string[]): Promise<string> => podman(['exec', 'lapel', ...command]);
const probe = (expected: number): Promise<string> => podman(['healthcheck', 'run', 'lapel'], expected);

/** Ends the service by SIGTERM. Returns the milliseconds that this took. */
async function stop(): Promise<number> {
  const began = performance.now();
  await podman(['stop', '--time', '10', 'lapel']);
  const took = performance.now() - began;
  const state = await podman(['inspect', '--format', '{{.State.ExitCode}}', 'lapel']);
  assert.equal(state.trim(), '0', await podman(['logs', 'lapel']));
  await podman(['rm', 'lapel']);
  return took;
}

async function trySimulator(): Promise<void> {
  await attempt('simulator: its version, its user, and a wrong command', async () => {
    const sim = ['run', '--rm', ...limits];
    assert.equal((await podman([...sim, SIMULATOR, '--version'])).trim(), MANIFEST.version);
    assert.equal((await podman([...sim, '--entrypoint', 'id', SIMULATOR, '-u'])).trim(), String(USER));
    assert.match(await podman([...sim, SIMULATOR, 'nonsense'], 2), /"nonsense"/);
  });
}

async function tryService(): Promise<void> {
  const isUp = await attempt('service: starts without any setting, with only its volume writable', async () => {
    await start('data', '-e', 'LAPEL_WEBHOOK_ALLOW_PRIVATE=true', '-e', 'LAPEL_ALLOW_HTTP_WEBHOOKS=true');
    const [, line = ''] = /^(\{"msg":"listening".*\})$/m.exec(await podman(['logs', 'lapel'])) ?? [];
    for (const port of ['http://localhost:8080', ADMIN, 'mqtt://localhost:1883', 'http://localhost:8082'])
      assert.ok(line.includes(`"${port}"`), line);
    return line;
  });
  if (!isUp) return;
  await attempt('service: its user, its version, its command line and its token', async () => {
    assert.equal((await inside('id', '-u')).trim(), String(USER));
    assert.equal((await inside('lapel', 'version')).trim(), MANIFEST.version);
    await inside('lapel', 'admin', 'developer', 'create', 'acme', '--name', 'Acme', '--device-limit', '10');
    assert.match(await inside('lapel', 'admin', 'developer', 'list'), /acme/);
    await podman(['exec', 'lapel', 'touch', '/tmp/file'], 1);
  });
  const token = (await inside('cat', '/data/admin-token')).trim();
  await attempt('the simulator plays smoke against the service: calls, commands, answers, webhooks', async () => {
    const reports = tools.makeFolder('reports');
    // Simulated devices read the packages that they download from files.
    const options = ['-e', `LAPEL_ADMIN_TOKEN=${token}`, '-v', `${reports}:/work`, '--tmpfs', '/tmp'];
    const command = ['run', 'smoke', '--report', 'report'];
    const output = await podman(['run', '--rm', ...limits, ...HARDENED, ...options, SIMULATOR, ...command]);
    for (const name of ['report.html', 'report.json', 'junit.xml'])
      assert.ok(existsSync(join(reports, 'report', name)), name);
    return `${output.match(/^ *ok\b/gm)?.length ?? 0} expectations hold`;
  });
  await attempt('HEALTHCHECK: healthy', () => probe(0));
  await attempt('SIGTERM ends it with 0 within its time', async () => `${(await stop()).toFixed(0)} ms`);
  await attempt('another container with the same volume knows everything', async () => {
    await start('data');
    assert.match(await inside('lapel', 'admin', 'developer', 'list'), /acme/);
    assert.equal((await inside('cat', '/data/admin-token')).trim(), token);
    await stop();
  });
}

async function tryPostgres(): Promise<void> {
  if (findPostgres() === undefined) return;
  const isThere = spawnSync('which', ['haproxy']).status === 0;
  if (isThere)
    await attempt('three nodes, HAProxy and PostgreSQL; one is killed', () => tryCluster(tools, HARDENED, SERVICE));
  await using server = await startPostgres();
  const url = await server.createDatabase('image');
  await attempt('HEALTHCHECK: unhealthy while the database is away, healthy when it is back', async () => {
    await start('other', '-e', `LAPEL_DATABASE_URL=${url}`);
    await probe(0);
    await server.stop('fast');
    assert.match(await probe(1), /unhealthy/);
    await server.start();
    await becomesReady();
    await probe(0);
    await stop();
  });
}

async function tryImages(): Promise<void> {
  const isBuilt =
    (await attempt('the base', tools.getBase)) &&
    (await attempt('the release', tools.makeContext)) &&
    (await attempt('the image of the service', () => tools.build('service', SERVICE))) &&
    (await attempt('the image of the simulator', () => tools.build('simulator', SIMULATOR)));
  if (!isBuilt) return;
  await trySimulator();
  await tryService();
  await tryPostgres();
}

/** Why the images cannot be tried here. */
function obstacle(): string | undefined {
  const missing = PROGRAMS.filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length > 0) return `these programs are missing: ${missing.join(', ')}`;
  if (process.getuid?.() !== 0) return 'this must be run by root';
  return NPM === '' ? 'start it with npm run try -- image' : undefined;
}

const why = obstacle();
try {
  if (why === undefined) await tryImages();
  else process.stderr.write(`try -- image: ${why}\n`);
} finally {
  await tools.end();
}
process.exitCode = why !== undefined ? 2 : conclude() ? 0 : 1;
