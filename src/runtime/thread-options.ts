import { getCompileCacheDir } from 'node:module';
import { dirname } from 'node:path';

/**
 * Options with which each thread starts. It gets no flags and no environment of this process, which may hold secrets; only
 * the folder of compiled code, because to compile its modules takes a thread as long as to start. Node tells the folder of
 * its own version, which is in the one that the variable names.
 */
export function threadOptions(): { execArgv: string[]; env: Record<string, string> } {
  const folder = getCompileCacheDir();
  return { execArgv: [], env: folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) } };
}
