import { accessSync, constants, mkdirSync } from 'node:fs';
import { open, statfs } from 'node:fs/promises';
import { DomainError } from '@lapel/schemas/contracts/errors';

/**
 * Creates the data folder, accessible by its owner only. Throws SETTING_INVALID when it cannot be created or accessed.
 */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    const problem = `cannot use the folder ${folder} (${code})`;
    throw new DomainError('SETTING_INVALID', { values: { setting: 'LAPEL_DATA_DIR', problem }, cause });
  }
}

/** The free bytes and the size of the disk that the folder is on. */
export async function diskOf(folder: string): Promise<{ free: number; size: number }> {
  const { bavail, blocks, bsize } = await statfs(folder);
  return { free: bavail * bsize, size: blocks * bsize };
}

/** The reason why the folder cannot be opened, such as too many open files; undefined when it can. */
export async function openFileFault(folder: string): Promise<string | undefined> {
  try {
    await (await open(folder)).close();
    return undefined;
  } catch (error) {
    return `cannot be opened (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`;
  }
}
