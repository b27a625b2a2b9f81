import { closeSync, existsSync, openSync, readSync, rmSync } from 'node:fs';
import { UsageError } from './usage-error.ts';

/**
 * Tries whether the file of an option can be written, before work of minutes whose result it gets. Throws a UsageError.
 */
export function requireWritable(option: string, path: string): void {
  const wasThere = existsSync(path);
  try {
    closeSync(openSync(path, 'a'));
  } catch (error) {
    throw new UsageError(`--${option}`, `the file cannot be written: ${(error as Error).message}`);
  }
  if (!wasThere) rmSync(path);
}

/** Reads a text file that a stranger may have made. Throws when it is larger than `most` bytes, or cannot be read. */
export function readAtMost(path: string, most: number): string {
  const file = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(most + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length <= most; length += read)
      read = readSync(file, bytes, length, bytes.length - length, null);
    if (length > most) throw new Error(`${path} is larger than ${most / 1024 / 1024} MiB`);
    return bytes.toString('utf8', 0, length);
  } finally {
    closeSync(file);
  }
}
