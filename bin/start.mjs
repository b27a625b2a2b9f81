import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import module from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const own = join(root, 'node_modules', '.bin', 'node');
// What was read once need not be read again: a command starts in a third of the time.
const cache = join(root, 'node_modules', '.cache', 'lapel');

/**
 * Starts a program of this checkout (its name, and its module) with the Node that the project brings: the machine's own
 * may be too old to read TypeScript. The npm package has tools/scripts/release/start.mjs instead of this file.
 */
export async function start(_name, path) {
  const main = join(root, `${path}.ts`);
  if (process.versions.node.startsWith('24.')) {
    if (!process.env.NODE_COMPILE_CACHE) module.enableCompileCache(cache);
    await import(pathToFileURL(main).href);
    return;
  }
  const node = existsSync(own) ? own : process.execPath;
  const child = spawn(node, [main, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { NODE_COMPILE_CACHE: cache, ...process.env },
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : (code ?? 1)));
}
