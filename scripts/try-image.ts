// npm run try:image: builds the image of the simulator, and plays `smoke` with it against a service of this checkout.
// It needs root and Debian's packages buildah, podman, runc and debootstrap, so it is not part of `npm test`.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';

const ROOT = join(import.meta.dirname, '..');
const DOCKERFILE = 'device-sim/Dockerfile';
const TOOLS = ['buildah', 'podman', 'runc', 'debootstrap'];
const IMAGE = 'localhost/lapel-sim';
const ADMIN_TOKEN = 'administrator token of the image';
/** Limits that a process without privileges of its own may have. */
const LIMITS = ['--ulimit', 'nofile=4096:4096', '--ulimit', 'nproc=4096:4096'];
const ENV = { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' };

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Runs a program to its end; its output is shown only if it fails. */
function run(program: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, env: ENV, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** The first line of the Dockerfile that names its base. */
const baseOf = (dockerfile: string): string => `docker.io/library/${/^FROM (\S+)$/m.exec(dockerfile)?.[1]}`;

/** The address from which this machine gets Debian's packages. */
function mirror(): string {
  const lines = run('apt-get', 'indextargets', '--format', '$(SITE) $(RELEASE)').split('\n');
  const found = lines.map((line) => line.split(' ')).find(([, release]) => release === 'bookworm');
  if (!found?.[0]) throw new Error('apt knows no server with Debian 12');
  return found[0];
}

/** Makes the base of Debian's packages and the Node of this checkout, where none can be pulled. */
function makeBase(name: string, folder: string): void {
  const root = join(folder, 'base');
  run('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', root, mirror());
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  const npm = join(dirname(process.env['npm_execpath'] ?? ''), '..'); // npm runs this script
  cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true });
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
  run('chroot', root, 'useradd', '--create-home', '--uid', '1000', 'node');
  const container = run('buildah', 'from', 'scratch').trim();
  run('buildah', 'copy', '--quiet', container, root, '/');
  run('buildah', 'commit', '--quiet', '--rm', container, name);
}

/** The settings of npm on this machine, without which the build may reach no registry. */
function settingsOfNpm(folder: string): string[] {
  const file = join(folder, 'npmrc');
  const own = run('npm', 'config', 'get', 'userconfig').trim();
  const ca = process.env['NODE_EXTRA_CA_CERTS'];
  const more = ca === undefined ? '' : '\ncafile=/tmp/ca.crt\n';
  writeFileSync(file, (existsSync(own) ? readFileSync(own, 'utf8') : '') + more);
  return ['--volume', `${file}:/root/.npmrc:ro`, ...(ca === undefined ? [] : ['--volume', `${ca}:/tmp/ca.crt:ro`])];
}

/** Runs a command of the image. Resolves to its exit code and its output. */
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

async function tryImage(folder: string): Promise<void> {
  const base = baseOf(readFileSync(join(ROOT, DOCKERFILE), 'utf8'));
  if (spawnSync('buildah', ['pull', '--quiet', base], { env: ENV, timeout: 120_000 }).status !== 0) {
    print(`${base} cannot be pulled, so a base is made of Debian's packages`);
    makeBase(base, folder);
  }
  run(
    'buildah',
    'bud',
    '--pull-never',
    '--network',
    'host',
    ...settingsOfNpm(folder),
    '-f',
    DOCKERFILE,
    '-t',
    IMAGE,
    '.',
  );
  const [image] = JSON.parse(run('buildah', 'images', '--json', IMAGE)) as { size: string }[];
  print(`built ${IMAGE}: ${image?.size}`);

  const wrong = await play([], 'nonsense');
  expect(
    'a wrong command ends with 2 and a sentence',
    wrong.code === 2 && /"nonsense"/.test(wrong.output),
    wrong.output,
  );
  const user = await play(['--entrypoint', 'id'], '-u');
  expect('it does not run as root', user.code === 0 && user.output.trim() === '1000', user.output);

  const ports = { LAPEL_HTTP_PORT: '0', LAPEL_ADMIN_PORT: '0', LAPEL_MQTT_PORT: '0', LAPEL_OBJECTS_PORT: '0' };
  const more = { LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true', LAPEL_ALLOW_HTTP_WEBHOOKS: 'true', LAPEL_LOG_LEVEL: 'warn' };
  const env = {
    ...process.env,
    ...ports,
    ...more,
    LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
    LAPEL_DATA_DIR: join(folder, 'data'),
  };
  const service = spawn(process.execPath, ['src/main.ts', 'serve'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(service.stdout, 'data')) as [Buffer];
    const { http, admin, mqtt } = JSON.parse(line.toString()) as Record<'http' | 'admin' | 'mqtt', string>;
    const reports = join(folder, 'reports');
    mkdirSync(reports);
    execFileSync('chown', ['1000', reports]);
    const at = ['--api', http, '--admin', admin, '--mqtt', mqtt, '--report', 'report'];
    const options = ['-e', `LAPEL_ADMIN_TOKEN=${ADMIN_TOKEN}`, '-v', `${reports}:/work`];
    const { code, output } = await play(options, 'run', 'smoke', ...at);
    expect('it plays smoke, and ends with 0', code === 0, output);
    const files = ['report.html', 'report.json', 'junit.xml'].filter((name) =>
      existsSync(join(reports, 'report', name)),
    );
    expect('the reports are in the mounted folder', files.length === 3, output);
  } finally {
    service.kill('SIGTERM');
    await once(service, 'exit');
  }
}

const missing = TOOLS.filter((name) => spawnSync('which', [name]).status !== 0);
if (process.getuid?.() !== 0 || missing.length > 0) {
  const why = missing.length > 0 ? `these programs are missing: ${missing.join(', ')}` : 'this must be run by root';
  process.stderr.write(`try:image: ${why}\n`);
  process.exit(2);
}
const folder = mkdtempSync(join(tmpdir(), 'lapel-image-'));
try {
  await tryImage(folder);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
