import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../release/lockfile.ts';
import type { Attempts } from '../trial/attempts.ts';
import { type Environment, run } from '../trial/programs.ts';

export interface Parts {
  folder: string;
  env: Environment;
  /** The command npm, with the Node that runs it. */
  npm: readonly string[];
  /** The file of the package that is tried. */
  archive: string;
  attempts: Attempts;
}

export const TSC = [process.execPath, join(ROOT, 'node_modules/typescript/bin/tsc')];
export const STRICT = { strict: true, types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };

/** Makes a project with the package that is tried, as its users do. */
export async function makeProject(
  { folder, env, npm, archive }: Parts,
  name: string,
  type: string,
  ...packages: string[]
) {
  const cwd = join(folder, name);
  mkdirSync(cwd, { recursive: true });
  const write = (file: string, content: string | object): void =>
    writeFileSync(join(cwd, file), typeof content === 'string' ? content : JSON.stringify(content));
  write('package.json', { name, type, private: true });
  await run([...npm, 'install', '--no-audit', '--no-fund', archive, ...packages], { env, cwd });
  return { cwd, write };
}
