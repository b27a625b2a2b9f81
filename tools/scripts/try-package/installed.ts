import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAKERS } from '../release/contents.ts';
import { ROOT } from '../release/lockfile.ts';
import type { Attempts } from '../trial/attempts.ts';
import { type Environment, run, start } from '../trial/programs.ts';

const MEBIBYTE = 1024 ** 2;
const LARGEST_MIB = 64;
const DEVICE = '490154203237518';

interface Parts {
  /** The name of the Node, for the table. */
  node: string;
  /** The folder of npm's `--prefix`. */
  prefix: string;
  /** An empty folder, in which the commands are called. */
  folder: string;
  env: Environment;
  version: string;
  attempts: Attempts;
  /** Tries more while the service runs, and the device is activated. */
  more(served: Served): Promise<void>;
}

/** A running service with an application and a device. */
export interface Served {
  /** The name of the Node, for the table. */
  node: string;
  url: string;
  adminUrl: string;
  mqttUrl: string;
  adminToken: string;
  /** The folder of the commands. */
  bin: string;
  /** A device that is activated and connected. */
  deviceId: string;
  /** The secret of the application `patrol`. */
  secret: string;
  authenticationKey: string;
}

/** The space that a folder takes on a disk with blocks of 4 KiB, in MiB. */
function sizeOf(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  const blocks = entries.map((entry) => Math.ceil(lstatSync(join(entry.parentPath, entry.name)).size / 4096));
  return (blocks.reduce((sum, one) => sum + one, 0) * 4096) / MEBIBYTE;
}

async function answers(url: string, pattern: RegExp): Promise<string> {
  const response = await fetch(url);
  const text = await response.text();
  assert.equal(response.status, 200, url);
  assert.match(text, pattern, url);
  assert.doesNotMatch(text, /[\uE000\uE001]/, `${url} has its addresses`);
  return text;
}

/** The pages that are served to browsers, and the files of packages in them. */
async function lookAtPages(http: string, admin: string): Promise<void> {
  const first = await answers(`${http}/docs`, /The first five minutes/);
  const pages = [...first.matchAll(/(?:src|href|data-index)="(docs\/[^"#]+)"/g)].map(([, path = '']) => path);
  assert.ok(pages.length > 35, 'the documents are many pages');
  for (const path of new Set(pages)) await answers(`${http}/${path}`, /./);
  await answers(`${http}/docs/try.js`, /access_token/);
  await answers(`${http}/docs/events`, /transaction\.succeeded/);
  await answers(`${http}/openapi.json`, /"openapi"/);
  const page = await answers(`${admin}/console`, /<script type="module"/);
  const paths = [...page.matchAll(/(?:src|href)="(\.\/[^"]+)"/g)].map(([, path = '']) => path);
  assert.ok(
    ['.js', '.css'].every((type) => paths.some((path) => path.includes(type))),
    'the console has a script and a style sheet',
  );
  for (const path of paths) await answers(new URL(path, `${admin}/`).href, /./);
}

/** The files of a folder, by their names. */
const contentsOf = (folder: string): Map<string, string> =>
  new Map(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]));

/** The documents that the release has made are those that a checkout makes, also with what was deprecated before. */
async function compareDocuments(lapel: string, place: { env: Environment; cwd: string }): Promise<string> {
  const checkout = [process.execPath, '--disable-warning=ExperimentalWarning', join(ROOT, 'src/main.ts')];
  const names = new Set<string>();
  for (const release of ['2026-08', '2026-10', '2027-01']) {
    const settings = ['--api-release', release, '--public-url', 'https://lapel.example/fleet', '--time-zone', 'UTC'];
    const [own, other] = [`docs-${release}`, `checkout-${release}`];
    await run([lapel, 'docs', own, ...settings], place);
    await run([...checkout, 'docs', other, ...settings], place);
    const made = contentsOf(join(place.cwd, own));
    assert.deepEqual(made, contentsOf(join(place.cwd, other)), release);
    for (const name of made.keys()) names.add(name);
  }
  assert.ok(names.size > 40);
  return `${names.size} files`;
}

/** Tries the commands of an installed package: a service, the ring from a call to its webhook, a fleet, the demo. */
export async function tryInstalled({ node, prefix, folder, env: base, version, attempts, more }: Parts): Promise<void> {
  const { attempt } = attempts;
  const lapel = join(prefix, 'bin/lapel');
  const sim = join(prefix, 'bin/lapel-sim');
  const named = (text: string): string => `${node}: ${text}`;
  mkdirSync(folder);
  const place = { env: base, cwd: folder };

  await attempt(named('size of the installed package'), async () => {
    const size = sizeOf(prefix);
    assert.ok(size < LARGEST_MIB, `${size.toFixed(1)} MiB are too much`);
    return `${size.toFixed(1)} MiB`;
  });
  for (const line of ['lapel version', 'lapel -V', 'lapel-sim --version'])
    await attempt(named(line), async () => {
      const [name = '', ...args] = line.split(' ');
      const { stdout } = await run([join(prefix, 'bin', name), ...args], place);
      assert.equal(stdout, `${version}\n`);
    });
  await attempt(named('every package that it contains can be loaded'), async () => {
    const script = `const { default: { dependencies } } = await import('lapel/package.json', { with: { type: 'json' } });
      for (const name of Object.keys(dependencies)) await import(name);
      console.log(Object.keys(dependencies).length);`;
    const inside = join(prefix, 'lib/node_modules/lapel');
    const { stdout } = await run(['node', '--input-type=module', '--eval', script], { ...place, cwd: inside });
    return `${stdout.trim()} packages, with all that they need`;
  });
  await attempt(named('lapel demo --once'), async () => {
    const { stdout, stderr } = await run([lapel, 'demo', '--once'], place);
    assert.equal(stderr, '');
    return /^All as promised: .*?events/m.exec(stdout)?.[0];
  });

  await attempt(named('it has the documents, and not the code that makes them'), async () => {
    for (const made of [...MAKERS, 'node_modules/marked'])
      assert.ok(!existsSync(join(prefix, 'lib/node_modules/lapel', made)), made);
    return compareDocuments(lapel, place);
  });

  const ports = ['HTTP', 'ADMIN', 'MQTT', 'OBJECTS'].map((name) => [`LAPEL_${name}_PORT`, '0']);
  const settings = { ...base, ...Object.fromEntries(ports), LAPEL_WEBHOOK_ALLOW_PRIVATE: 'true' };
  await using service = start([lapel, 'serve'], { env: settings, cwd: folder });
  let addresses = { http: '', admin: '', mqtt: '' };
  const serves = await attempt(named('lapel serve'), async () => {
    const [line] = await service.said(/^\{.*\}$/m);
    addresses = JSON.parse(line) as typeof addresses;
  });
  if (!serves) return;
  const { http, admin, mqtt } = addresses;
  const secrets = {
    env: { ...base, LAPEL_URL: http, LAPEL_ADMIN_URL: admin, LAPEL_APPLICATION: 'patrol' },
    cwd: folder,
  };
  const json = async (...args: string[]): Promise<Record<string, string>> =>
    JSON.parse((await run([lapel, ...args, '--json'], secrets)).stdout) as Record<string, string>;

  await attempt(named('the console, the reference and their files'), async () => lookAtPages(http, admin));
  await attempt(named('lapel-sim run smoke'), async () => {
    const { stdout } = await run([sim, 'run', 'smoke', '--api', http, '--admin', admin, '--mqtt', mqtt], place);
    return `${stdout.match(/^ *ok\b/gm)?.length ?? 0} expectations hold`;
  });
  await using devices = new AsyncDisposableStack();
  let authenticationKey = '';
  const ring = await attempt(named('a call, its command, its answer and its webhook'), async () => {
    await json('admin', 'developer', 'create', 'acme', '--name', 'Acme', '--device-limit', '10');
    const { secret = '' } = await json(
      'admin',
      'application',
      'create',
      'patrol',
      '--developer',
      'acme',
      '--name',
      'Patrol',
    );
    secrets.env = { ...secrets.env, LAPEL_APPLICATION_SECRET: secret } as typeof secrets.env;
    const device = await json('admin', 'device', 'register', DEVICE, '--developer', 'acme');
    writeFileSync(join(folder, 'device.ndjson'), `${JSON.stringify(device)}\n`);
    devices.use(start([sim, '--devices', 'device.ndjson', '--mqtt', mqtt, '--api', http, '--admin', admin], place));
    ({ authenticationKey = '' } = await json('settings', 'key'));
    await using listener = start([lapel, 'webhook', 'listen', '--set', 'deviceEvent', '--json'], secrets);
    await listener.said(/"type":"test"/);
    await run([lapel, 'device', 'activate', DEVICE, '--wait'], secrets);
    await listener.said(/transaction\.succeeded/);
  });
  const secret = (secrets.env as Environment)['LAPEL_APPLICATION_SECRET'] ?? '';
  if (ring) {
    const adminToken = readFileSync(join(folder, 'data/admin-token'), 'utf8').trim();
    const bin = join(prefix, 'bin');
    const urls = { url: http, adminUrl: admin, mqttUrl: mqtt };
    await more({ node, ...urls, adminToken, bin, deviceId: DEVICE, secret, authenticationKey });
  }
  await attempt(named('SIGTERM ends lapel serve with 0'), async () => assert.equal(await service.end(), 0));
}
