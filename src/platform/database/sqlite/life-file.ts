import {
  type BigIntStats,
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { RaiseReason } from '../number-floor.ts';

/**
 * The file beside the database that reveals an exchanged database file: it names the database's current life. It also holds
 * its own inode and creation time; in a copy of the whole folder both differ. A snapshot of the disk looks like the
 * original, so the safety of numbers does not depend on this file.
 */
const NAME = 'life.json';

interface LifeFile {
  lifeId: string;
  inode: string;
  /** Creation time in nanoseconds, because some file systems reuse inodes. */
  made: string;
}

const fileOf = (folder: string): string => join(folder, NAME);
const marksOf = ({ ino, birthtimeNs }: BigIntStats): Pick<LifeFile, 'inode' | 'made'> => ({
  inode: String(ino),
  made: String(birthtimeNs),
});

function readLifeFile(folder: string): Partial<LifeFile> | undefined {
  try {
    return JSON.parse(readFileSync(fileOf(folder), 'utf8')) as Partial<LifeFile>;
  } catch {
    return undefined; // the file is missing or incomplete
  }
}

/** Compares the folder's file with the database, whose last life was `lifeId`. */
export function judgeFolder(
  folder: string,
  lifeId: string,
): Extract<RaiseReason, 'start' | 'copied_folder' | 'other_file'> {
  const file = readLifeFile(folder);
  if (file?.lifeId !== lifeId) return 'other_file';
  const { inode, made } = marksOf(statSync(fileOf(folder), { bigint: true }));
  return file.inode === inode || file.made === made ? 'start' : 'copied_folder';
}

/** Writes the current life of the database into the folder's file. */
export function writeLifeFile(folder: string, lifeId: string): void {
  const made = `${fileOf(folder)}.new`;
  const descriptor = openSync(made, 'w', 0o600);
  try {
    const file: LifeFile = { lifeId, ...marksOf(fstatSync(descriptor, { bigint: true })) };
    writeSync(descriptor, `${JSON.stringify(file)}\n`);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(made, fileOf(folder));
}
