// Starts a program of the installed package. The version of Node is checked first, because an older one fails at the
// first file that it cannot read. So this file and installation.js contain only what old versions know.
import module from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { refusalOf } from '../schemas/base/installation.js';

/** The exit code of a wrong version of Node (EX_CONFIG of sysexits). */
const WRONG_NODE = 78;

/** Starts a program by its name and its module, such as `src/main`. */
export async function start(name, path) {
  const refusal = refusalOf(process.versions.node);
  if (refusal !== undefined) {
    process.stderr.write(`${name}: ${refusal}\n`);
    process.exit(WRONG_NODE);
  }
  // Code that was compiled once need not be compiled again: a command starts in a third of the time. The cache is the
  // user's own, because it contains code that runs. Without a folder for it, the program starts without it.
  const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  if (!process.env.NODE_COMPILE_CACHE) module.enableCompileCache(join(caches, 'lapel'));
  await import(`../${path}.js`);
}
