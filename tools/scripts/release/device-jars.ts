import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeZip } from '@lapel/device-sim/files/make-apk';
import { MANIFEST, ROOT } from './lockfile.ts';

const SOURCES = join(ROOT, 'device/java/src');
/** The language of the classes, which tools for Android translate. */
const RELEASE = '11';
const HEAD = `Manifest-Version: 1.0\r\nAutomatic-Module-Name: lapel.device\r\nImplementation-Version: ${MANIFEST.version}\r\n\r\n`;

/** The files below a folder, by their paths, in their order. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes('.'))
    .sort();

function jarOf(folder: string): Buffer {
  const files = filesIn(folder).map((name) => ({ name, bytes: readFileSync(join(folder, name)) }));
  const license = { name: 'META-INF/LICENSE', bytes: readFileSync(join(ROOT, 'LICENSE')) };
  return makeZip([{ name: 'META-INF/MANIFEST.MF', bytes: Buffer.from(HEAD) }, license, ...files]);
}

/** The library for devices in Java, as a jar of classes and one of sources; undefined where there is no JDK. */
export function deviceJars(): { classes: Buffer; sources: Buffer } | undefined {
  if (spawnSync('javac', ['--version']).status !== 0) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'lapel-jar-'));
  try {
    const files = filesIn(SOURCES).map((path) => join(SOURCES, path));
    execFileSync('javac', ['--release', RELEASE, '-g:source,lines', '-encoding', 'UTF-8', '-d', folder, ...files]);
    return { classes: jarOf(folder), sources: jarOf(SOURCES) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
