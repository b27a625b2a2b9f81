// npm run try:image: builds the image of the simulator, and plays `smoke` with it against a service of this checkout.
// It needs root and Debian's packages buildah, podman, runc and debootstrap, so it is not part of `npm test`.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ADMIN_TOKEN, startProcess } from '../test/flow/service-process.ts';

const ROOT = join(import.meta.dirname, '..');
/** npm's program: npm runs this script. */
const NPM = process.env['npm_execpath'] ?? '';
const TOOLS = ['buildah', 'podman', 'runc', 'debootstrap'];
const IMAGE = 'localhost/lapel-sim';
/** The user of the image, `node`. */
const USER = 1000;
/** Limits that a process without privileges of its own may have. */
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];

const folder = mkdtempSync(join(tmpdir(), 'lapel-image-'));
// The images are kept in this folder, and end with it: those of the machine stay as they are.
const STORAGE = join(folder, 'storage.conf');
const ENV = { ...process.env, CONTAINERS_STORAGE_CONF: STORAGE, BUILDAH_ISOLATION: 'chroot' };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a program to its end; its output is shown only if it fails. */
function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, env: ENV, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** The full name of the image from which the Dockerfile starts. */
const baseOf = (dockerfile: string): string => `docker.io/library/${/^FROM (\S+) AS packages$/m.exec(dockerfile)?.[1]}`;

/** The address from which this machine gets Debian's packages. */
function mirror(): string {
  const lines = run('apt-get', 'indextargets', '--format', '$(SITE) $(RELEASE)').split('\n');
  const found = lines.map((line) => line.split(' ')).find(([, release]) => release === 'bookworm');
  if (!found?.[0]) throw new Error('apt knows no server with Debian 12');
  return found[0];
}

/** Makes the base of Debian's packages and the Node of this checkout, where none can be pulled. */
function makeBase(name: string): void {
  const root = join(folder, 'base');
  run('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', root, mirror());
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  cpSync(join(dirname(NPM), '..'), join(root, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
    dereference: true,
  });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  run('chroot', root, 'useradd', '--create-home', '--uid', `${USER}`, 'node');
  const container = run('buildah', 'from', 'scratch').trim();
  run('buildah', 'copy', '--quiet', container, root, '/');
  run('buildah', 'commit', '--quiet', '--rm', container, name);
}

/** The settings of npm on this machine, without which the build may reach no registry. */
function settingsOfNpm(): string[] {
  const file = join(folder, 'npmrc');
  const own = run('npm', 'config', 'get', 'userconfig').trim();
  const ca = process.env['NODE_EXTRA_CA_CERTS'];
  const more = ca === undefined ? '' : '\ncafile=/tmp/ca.crt\n';
  writeFileSync(file, (existsSync(own) ? readFileSync(own, 'utf8') : '') + more);
  return ['--volume', `${file}:/root/.npmrc:ro`, ...(ca === undefined ? [] : ['--volume', `${ca}:/tmp/ca.crt:ro`])];
}

/** Builds one of the two images of the Dockerfile. */
function build(target: string, image: string): void {
  run(
    'buildah',
    'bud',
    '--pull-never',
    '--network',
    'host',
    '--target',
    target,
    '--tag',
    image,
    ...settingsOfNpm(),
    '.',
  );
  const [built] = JSON.parse(run('buildah', 'images', '--json', image)) as { size: string }[];
  print(`built ${image}: ${built?.size}`);
}

/** Runs a command of the simulator's image. Resolves to its exit code and its output. */
async function play(more: readonly string[], ...args: string[]) {
  const own = ['--cgroup-manager', 'cgroupfs', '--runtime', 'runc', 'run', '--rm', '--network', 'host'];
  const child = spawn('podman', [...own, ...LIMITS, ...more, IMAGE, ...args], { env: ENV, stdio: 'pipe' });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, output: stdout + stderr };
}

function expect(what: string, good: boolean, output: string): void {
  print(`${good ? 'ok' : 'NOT OK'}  ${what}`);
  if (good) return;
  print(output);
  process.exitCode = 1;
}

/** Plays `smoke` with the image against a service of this checkout. */
async function playSmoke(): Promise<void> {
  const ends: (() => unknown)[] = [];
  const service = await startProcess(
    { teardown: (end) => ends.push(end) },
    { LAPEL_DATA_DIR: join(folder, 'data'), LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' },
  );
  try {
    const { http, admin, mqtt } = service.addresses;
    const reports = join(folder, 'reports');
    mkdirSync(reports);
    chownSync(reports, USER, USER);
    const at = ['--api', http, '--admin', admin, '--mqtt', mqtt, '--report', 'report'];
    const options = ['-e', `LAPEL_ADMIN_TOKEN=${ADMIN_TOKEN}`, '-v', `${reports}:/work`];
    const { code, output } = await play(options, 'run', 'smoke', ...at);
    expect('it plays smoke, and ends with 0', code === 0, output);
    const files = ['report.html', 'report.json', 'junit.xml'];
    const found = files.every((name) => existsSync(join(reports, 'report', name)));
    expect('the reports are in the mounted folder', found, output);
    service.signal('SIGTERM');
    await service.closed;
  } finally {
    for (const end of ends) end();
  }
}

async function tryImage(): Promise<void> {
  const base = baseOf(readFileSync(join(ROOT, 'Dockerfile'), 'utf8'));
  if (spawnSync('buildah', ['pull', '--quiet', base], { env: ENV, timeout: 120_000 }).status !== 0) {
    print(`${base} cannot be pulled, so a base is made of Debian's packages`);
    makeBase(base);
  }
  build('simulator', IMAGE);

  const wrong = await play([], 'nonsense');
  const isClear = wrong.code === 2 && /"nonsense"/.test(wrong.output);
  expect('a wrong command ends with 2 and a sentence', isClear, wrong.output);
  const user = await play(['--entrypoint', 'id'], '-u');
  expect('it does not run as root', user.code === 0 && user.output.trim() === `${USER}`, user.output);
  await playSmoke();
}

/** Why the image cannot be tried here. */
function obstacle(): string | undefined {
  const missing = TOOLS.filter((name) => spawnSync('which', [name]).status !== 0);
  if (missing.length > 0) return `these programs are missing: ${missing.join(', ')}`;
  if (process.getuid?.() !== 0) return 'this must be run by root';
  return NPM === '' ? 'start it with npm run try:image' : undefined;
}

try {
  const why = obstacle();
  if (why === undefined) {
    writeFileSync(
      STORAGE,
      `[storage]\ndriver = "vfs"\ngraphroot = "${join(folder, 'images')}"\nrunroot = "${join(folder, 'run')}"\n`,
    );
    await tryImage();
  } else {
    process.stderr.write(`try:image: ${why}\n`);
    process.exitCode = 2;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
