// npm run try -- delivery: carries out everything between a checkout and a service that runs for years, with the real tool of
// each kind: packages, upgrades, backups, proxies, images, Debian, alerts, traces. It needs root, Debian's packages and the
// network, and takes a quarter of an hour or more, so it is not part of `npm test`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { MANIFEST, ROOT } from './release/lockfile.ts';
import { createAttempts } from './trial/attempts.ts';
import { trialFolder } from './trial/folder.ts';
import { environmentOf, run } from './trial/programs.ts';
import { tryData } from './try-delivery/data.ts';
import { collectTrace } from './try-delivery/trace.ts';

/** The scripts that try one part each, with what they show. */
const SCRIPTS: Readonly<Record<string, string>> = {
  package: 'npm packages: made twice with the same bytes, installed, used',
  upgrade: 'upgrades from the former release, under load',
  recovery: 'PostgreSQL: a point in time, standbys that take over',
  proxies: 'nginx, HAProxy and Caddy in front',
  image: 'images of the service and of the simulator',
  debian: 'the Debian package and its unit',
  alerts: 'alerts that fire when the fault is made',
};
const LONGEST_MS = 20 * 60_000;

const { values } = parseArgs({ options: { only: { type: 'string' } } });
const only = values.only?.split(',');
const unknown = only?.find((name) => !(name in SCRIPTS) && name !== 'data');
if (unknown !== undefined) {
  process.stderr.write(`--only: ${unknown} is none of data, ${Object.keys(SCRIPTS).join(', ')}\n`);
  process.exit(2);
}
const isWanted = (name: string): boolean => only?.includes(name) ?? true;

const folder = trialFolder('delivery', 2 * 60 * 60_000);
const attempts = createAttempts();
const { attempt } = attempts;
/** npm's program: npm runs this script. */
const NPM = process.env['npm_execpath'] ?? '';

/** Runs another script; its last lines are the note, or the failure. */
async function tryScript(name: string): Promise<string> {
  const file = join(folder, `${name}.log`);
  const child = spawn('npm', ['run', '--silent', 'try', '--', name], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  });
  const log = createWriteStream(file);
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const [code] = (await once(child, 'close')) as [number | null];
  log.end();
  await once(log, 'close');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  if (code !== 0) throw new Error(`npm run try -- ${name} ended with ${code}:\n${lines.slice(-40).join('\n')}`);
  const good = lines.filter((line) => /^ok\b/.test(line)).length;
  return good > 0 ? `${good} lines ok` : (lines.at(-1) ?? '');
}

async function tryInstalledData(): Promise<void> {
  const home = join(folder, 'home');
  const [made, prefix] = [join(folder, 'release'), join(folder, 'prefix')];
  mkdirSync(home);
  const env = environmentOf(home, dirname(process.execPath));
  const isInstalled = await attempt('a release, installed in an empty home', async () => {
    const release = [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      join(ROOT, 'tools/scripts/release.ts'),
      made,
    ];
    await run(release, { env: { ...env, npm_execpath: NPM }, cwd: folder });
    const archive = join(made, `lapel-${MANIFEST.version}.tgz`);
    const install = [process.execPath, NPM, 'install', '--global', '--offline', '--prefix', prefix, archive];
    await run(install, { env, cwd: folder });
  });
  if (!isInstalled) return;
  const parts = { bin: join(prefix, 'bin'), folder: join(folder, 'work'), env };
  mkdirSync(parts.folder);
  await tryData({ ...parts, attempts });
  const traced = { ...parts, folder: join(folder, 'traced') };
  mkdirSync(traced.folder);
  await attempt('one trace, from the call to the webhook', () => collectTrace(traced));
}

if (isWanted('data')) await tryInstalledData();
for (const [name, about] of Object.entries(SCRIPTS))
  if (isWanted(name)) await attempt(`${name}: ${about}`, () => tryScript(name));
process.exit(attempts.conclude() ? 0 : 1);
