import { mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statfsSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Where a folder is in memory, on Linux, and the bytes that have to be free there. */
const MEMORY = '/dev/shm';
const ROOM = 2 * 1024 * 1024 * 1024;

const ROOT = join(import.meta.dirname, '../..');

/** Links to the folders of processes, by their ids. They are in here as tap leaves a folder that is elsewhere for good. */
const LINKS = join(ROOT, '.tap/in-memory');

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize > ROOM;
  } catch {
    return false; // there is none
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

function remove(link: string): void {
  try {
    rmSync(readlinkSync(link), { recursive: true, force: true });
  } finally {
    rmSync(link, { force: true });
  }
}

/**
 * A folder in memory for the temporary folders of this process's tests, as no test is about a power failure: a disk has to
 * be waited for at each commit. It goes with the process. Undefined where there is not enough memory, or no such folder.
 */
export function folderInMemory(): string | undefined {
  if (!hasRoom()) return undefined;
  mkdirSync(LINKS, { recursive: true });
  for (const pid of readdirSync(LINKS)) if (!isThere(Number(pid))) remove(join(LINKS, pid)); // they were killed
  const folder = mkdtempSync(join(MEMORY, 'lapel-tests-'));
  // For programs that tests write there: Node looks from where a file really is.
  for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
  const link = join(LINKS, String(process.pid));
  symlinkSync(folder, link);
  process.once('exit', () => remove(link));
  return join(link, 't');
}
