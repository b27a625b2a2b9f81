import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { linkLibraries } from '@lapel/tools/harness/link-libraries';
import type { Change } from './operators.ts';
import { mutated } from './sites.ts';
import { isTried, nearestFirst } from './tests-of.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folders of a checkout that are no part of its program. Packages are shared, because nobody changes them. */
const LEFT_OUT = ['node_modules', '.git', '.tap', 'data', 'dist'];

export type Result = 'passed' | 'failed' | 'timed out';

/** A copy of the checkout with its tests, which has one mutant at a time. */
export interface MutantCopy {
  plant(file: string, change: Change): void;
  /** Takes the mutant out again. */
  restore(): void;
  /** Runs the test files below a folder of test/ until the first failure, for so many seconds at most. */
  run(tests: string, seconds: number): Promise<Result>;
}

/** Makes a copy in a new folder, of this checkout or of a project that is built alike. */
export function createMutantCopy(folder: string, root = ROOT): MutantCopy {
  mkdirSync(folder);
  const filter = (path: string): boolean => !LEFT_OUT.includes(basename(path));
  cpSync(root, folder, { recursive: true, filter });
  linkLibraries(ROOT, folder);
  let planted: string | undefined;
  function restore(): void {
    if (planted !== undefined) cpSync(join(root, planted), join(folder, planted));
    planted = undefined;
  }
  return {
    plant(file, change) {
      restore();
      writeFileSync(join(folder, file), mutated(readFileSync(join(root, file), 'utf8'), change));
      planted = file;
    },
    restore,
    async run(tests, seconds) {
      const files = globSync(`${tests}/**/*.test.ts`, { cwd: join(root, 'test') }).filter(isTried);
      const program = spawn(process.execPath, ['test/mutants/run-tests.ts', ...nearestFirst(files, planted ?? '')], {
        cwd: folder,
        env: { ...process.env, TAP_BAIL: '1' },
        stdio: 'ignore',
        detached: true, // so that it ends together with the processes that its tests have started
      });
      const ended = once(program, 'exit');
      const end = (): void => {
        try {
          process.kill(-program.pid!, 'SIGKILL');
        } catch {
          // All its processes have ended.
        }
      };
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        end();
      }, seconds * 1000);
      process.once('exit', end);
      const [code] = await ended;
      clearTimeout(timer);
      process.off('exit', end);
      end();
      if (isLate) return 'timed out';
      return code === 0 ? 'passed' : 'failed';
    },
  };
}
