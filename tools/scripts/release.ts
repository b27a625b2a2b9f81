// npm run release [-- FOLDER [--sign KEY.pem]]: makes the npm packages, the Debian packages and the jars of this checkout,
// the list of the packages that they contain, checksums, and a signature of the checksums. Nothing is published. Two runs
// with the same checkout, the same installed packages and the same JDK give the same bytes.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { clientPackages } from './clients/packages.ts';
import { clientPackage } from './release/client-package.ts';
import { ARCHITECTURES, debianPackage } from './release/debian-package.ts';
import { deviceJars } from './release/device-jars.ts';
import { devicePackage } from './release/device-package.ts';
import { lapelPackage } from './release/lapel-package.ts';
import { MANIFEST, ROOT } from './release/lockfile.ts';
import { licenseFaults, lockfileFaults } from './release/origins.ts';
import { billOfMaterials } from './release/sbom.ts';
import { signatureOf, signingKey } from './release/sign.ts';
import { type Files, tarball } from './release/tarball.ts';

const MEBIBYTE = 1024 ** 2;
const BLOCK = 4096;
const { version } = MANIFEST;

/** Throws when a file names the folder of this checkout, which is different on another machine. */
function checkPaths(files: Files): void {
  for (const [path, content] of files) if (content.includes(ROOT)) throw new Error(`${path} names ${ROOT}`);
}

function packed(files: Files): Buffer {
  checkPaths(files);
  return tarball(files);
}

const { values, positionals } = parseArgs({ allowPositionals: true, options: { sign: { type: 'string' } } });
const [given] = positionals;
// npm changes to the folder of the project, and names that in which it was called.
const place = (path: string): string => resolve(process.env['INIT_CWD'] ?? '.', path);
const folder = given === undefined ? join(ROOT, 'dist') : place(given);
const key = values.sign === undefined ? undefined : signingKey(readFileSync(place(values.sign), 'utf8'));
const faults = [...lockfileFaults(), ...licenseFaults()];
if (faults.length > 0) throw new Error(faults.join('\n'));
const lapel = await lapelPackage();
const jars = deviceJars();
if (!jars)
  process.stderr.write(
    'There is no JDK (javac), so this release has no jars of the library for devices, and none of the client.\n',
  );
const made: [string, Buffer][] = [
  [`lapel-${version}.tgz`, packed(lapel)],
  [`lapel-client-${version}.tgz`, packed(clientPackage())],
  [`lapel-device-${version}.tgz`, packed(devicePackage())],
  ...(await clientPackages()),
  ...Object.keys(ARCHITECTURES).map((architecture): [string, Buffer] => [
    `lapel_${version}_${architecture}.deb`,
    debianPackage(lapel, architecture as keyof typeof ARCHITECTURES),
  ]),
  ...(jars
    ? ([
        [`lapel-device-${version}.jar`, jars.classes],
        [`lapel-device-${version}-sources.jar`, jars.sources],
      ] as [string, Buffer][])
    : []),
  [`lapel-${version}.cdx.json`, billOfMaterials()],
];
const sums = made.map(([name, content]) => `${createHash('sha256').update(content).digest('hex')}  ${name}\n`);

mkdirSync(folder, { recursive: true });
for (const [name, content] of made) writeFileSync(join(folder, name), content);
writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
// A signature of a former run would be one of other checksums.
rmSync(join(folder, 'SHA256SUMS.sig'), { force: true });
if (key) writeFileSync(join(folder, 'SHA256SUMS.sig'), signatureOf(Buffer.from(sums.join('')), key));

const changed = execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
if (changed !== '') process.stderr.write('This release contains changes that are not committed.\n');
const sizeOf = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;
for (const [name, { length }] of made) process.stdout.write(`${name.padEnd(30)} ${sizeOf(length)}\n`);
const blocks = [...lapel.values()].reduce((sum, { length }) => sum + Math.ceil(length / BLOCK), 0);
process.stdout.write(
  `lapel has ${lapel.size} files, and takes ${sizeOf(blocks * BLOCK)} when it is installed, in blocks of 4 KiB\n`,
);
