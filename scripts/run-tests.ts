// Runs tap with the given arguments. Its output has some 40,000 assertions, so the failed ones are printed again at the
// end, where a reader of a log looks first.
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { failuresIn } from './failures.ts';

/** Here tap keeps the output of each file, also of earlier runs. */
const RESULTS = '.tap/test-results';

const begun = Date.now();
const { status, signal, error } = spawnSync('tap', process.argv.slice(2), {
  stdio: 'inherit',
  env: { ...process.env, NODE_COMPILE_CACHE: '.tap/compile-cache' },
});
if (error) throw error;
if (status !== 0) {
  process.stdout.write(signal === null ? '\n# Failed:\n' : `\n# tap was ended by ${signal}. Failed until then:\n`);
  for (const file of globSync('**/*.tap', { cwd: RESULTS }).sort()) {
    const path = join(RESULTS, file);
    if (statSync(path).mtimeMs < begun) continue;
    for (const failure of failuresIn(readFileSync(path, 'utf8')))
      process.stdout.write(`\n${file.slice(0, -'.tap'.length)}: ${failure}\n`);
  }
  process.exitCode = status ?? 1;
}
