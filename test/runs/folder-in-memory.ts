import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The folder in memory on Linux, and the bytes that must be free there. */
const MEMORY = '/dev/shm';
const ROOM = 2 * 1024 * 1024 * 1024;

const ROOT = join(import.meta.dirname, '../..');

/**
 * Links to the folders of processes, by process id. They are here because tap does not remove a folder that is
 * elsewhere.
 */
const LINKS = join(ROOT, '.tap/in-memory');

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ROOM;
  } catch {
    return false; // there is no such process
  }
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Removes a link and its folder. A process that was ended early may have left a folder in place of the link. */
function remove(link: string): void {
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink())
    rmSync(readlinkSync(link), { recursive: true, force: true });
  rmSync(link, { recursive: true, force: true });
}

/**
 * A folder in memory for the temporary folders of this process's tests: a disk would cost a wait at each commit, and no
 * test is about a power failure. It is removed with the process. Undefined where there is not enough memory, or no such
 * folder.
 */
export function folderInMemory(): string | undefined {
  if (!hasRoom()) return undefined;
  mkdirSync(LINKS, { recursive: true });
  // These processes were killed.
  for (const pid of readdirSync(LINKS)) if (!isThere(Number(pid))) remove(join(LINKS, pid));
  const folder = mkdtempSync(join(MEMORY, 'lapel-tests-'));
  // For programs that tests write there: Node resolves from the real path of a file.
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
  const link = join(LINKS, String(process.pid));
  symlinkSync(folder, link);
  process.once('exit', () => remove(link));
  return join(link, 't');
}
