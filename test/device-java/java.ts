import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { runProgram } from '../run-program.ts';

export const JAVA = join(import.meta.dirname, '../../device/java');

/** The files of Java in folders of device/java. */
export const sourcesIn = (...folders: string[]): string[] =>
  folders.flatMap((folder) => globSync(join(JAVA, folder, '**/*.java')));

/** Compiles files into a folder; any warning fails. */
export async function compile(folder: string, files: readonly string[], ...options: string[]): Promise<void> {
  const lint = ['-Xlint:all,-serial,-options', '-Werror', '-encoding', 'UTF-8'];
  const { status, stderr } = await runProgram('javac', [...lint, ...options, '-d', folder, ...files]);
  if (status !== 0) throw new Error(stderr);
}

let classes: Promise<string> | undefined;

/** The library and the programs of its tests, compiled once in this process; resolves to their folder. */
export function compiled(): Promise<string> {
  classes ??= (async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lapel-device-java-'));
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
    await compile(folder, sourcesIn('src', 'test'), '--release', '11');
    return folder;
  })();
  return classes;
}

/** Runs a class of the library's tests to its end, with a text on its standard input. */
export async function runClass(name: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn('java', ['-cp', await compiled(), `lapel.device.${name}`, ...args]);
  child.stdin.end(input);
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
