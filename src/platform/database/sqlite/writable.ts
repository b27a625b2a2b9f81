import { statfs } from 'node:fs/promises';

const MEBIBYTE = 1024 ** 2;
/**
 * Bytes that a disk which was full must have again: SQLite writes into what it has left for a while, so that a small commit
 * succeeds where the next one fails.
 */
export const ROOM = 16 * MEBIBYTE;
// Milliseconds between two lines of the log about the same trouble: about people, so it is the clock of the wall.
const REMINDED = 60_000;

interface Parts {
  folder: string;
  /** Commits something that has to be written. */
  write(): Promise<unknown>;
  /** Told when it begins, and once a minute as long as it lasts and somebody asks. */
  onAway(cause: unknown): void;
  onBack(): void;
}

/** Whether the database can be written: not from a commit that failed on, until there is room and one succeeds. */
export function createWritable({ folder, write, onAway, onBack }: Parts) {
  let trouble: unknown;
  let toldAt = Number.NEGATIVE_INFINITY;

  return {
    /** A commit could not be made. */
    failed(cause: unknown): void {
      trouble = cause;
      if (performance.now() - toldAt < REMINDED) return;
      toldAt = performance.now();
      onAway(cause);
    },

    /** Rejects while it cannot. Nobody is sent here then, so nobody else would find out that it can again. */
    async check(): Promise<void> {
      if (trouble === undefined) return;
      const { bavail, bsize } = await statfs(folder);
      if (bavail * bsize < ROOM) {
        const left = (bavail * bsize) / MEBIBYTE;
        throw new Error(
          `could not be written, and its disk has ${left.toFixed(1)} MiB left: ${ROOM / MEBIBYTE} are needed`,
        );
      }
      await write();
      if (trouble === undefined) return;
      trouble = undefined;
      toldAt = Number.NEGATIVE_INFINITY;
      onBack();
    },
  };
}
