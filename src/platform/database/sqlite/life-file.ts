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
 * Beside the database, so that a file which was exchanged is noticed; it names its own inode and when it was made, so that a
 * copy of the whole folder is noticed too: there both are others. Snapshots of a disk look like the original: nothing rests
 * on this file.
 */
const NAME = 'life.json';

interface LifeFile {
  lifeId: string;
  inode: string;
  /** Nanoseconds; some file systems give inodes anew. */
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
    return undefined; // not there, or half of one: it is as good as none
  }
}

/** What the folder says of a database whose last life was this one. */
export function judgeFolder(
  folder: string,
  lifeId: string,
): Extract<RaiseReason, 'start' | 'copied_folder' | 'other_file'> {
  const file = readLifeFile(folder);
  if (file?.lifeId !== lifeId) return 'other_file';
  const { inode, made } = marksOf(statSync(fileOf(folder), { bigint: true }));
  return file.inode === inode || file.made === made ? 'start' : 'copied_folder';
}

/** Says in the folder which life its database is in. */
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
