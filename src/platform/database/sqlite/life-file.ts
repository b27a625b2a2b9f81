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
 * A file beside the database, which shows whether the database file was replaced or the folder copied. At each start
 * the numbers of the database are raised, and the raise gets an identifier, the lifeId, which is stored in the database
 * and in this file. The file also contains its own inode and creation time, which both differ in a copy of the folder.
 * A snapshot of the disk looks like the original, so the raise never depends on this file.
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

/**
 * Compares the file in the folder with the `lifeId` that is stored in the database; returns the reason for which the
 * numbers are raised.
 */
export function judgeFolder(
  folder: string,
  lifeId: string,
): Extract<RaiseReason, 'start' | 'copied_folder' | 'other_file'> {
  const file = readLifeFile(folder);
  if (file?.lifeId !== lifeId) return 'other_file';
  const { inode, made } = marksOf(statSync(fileOf(folder), { bigint: true }));
  return file.inode === inode || file.made === made ? 'start' : 'copied_folder';
}

/** Writes the database's lifeId into the file in the folder. */
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
