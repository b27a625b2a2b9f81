import { statfs } from 'node:fs/promises';

const MEBIBYTE = 1024 ** 2;
/**
 * Bytes that must be free again on a disk that was full. SQLite goes on writing into the space that its files have left,
 * so a small commit may succeed where the next one fails.
 */
export const ROOM = 16 * MEBIBYTE;
// Milliseconds between two log lines about the same fault. They are for people, so real time counts, not the injected clock.
const REMINDED_MS = 60_000;

interface Parts {
  folder: string;
  /** Makes a commit that changes something, so that SQLite has to write to the disk. */
  write(): Promise<unknown>;
  /** Called when the fault begins, and once a minute while further commits fail. */
  onAway(cause: unknown): void;
  onBack(): void;
}

/**
 * Tracks whether the database can be written: after a failed commit it cannot, until there is room and a commit succeeds.
 */
export function createWritable({ folder, write, onAway, onBack }: Parts) {
  let trouble: unknown;
  let toldAt = Number.NEGATIVE_INFINITY;

  return {
    /** Call this after a commit has failed. */
    failed(cause: unknown): void {
      trouble = cause;
      if (performance.now() - toldAt < REMINDED_MS) return;
      toldAt = performance.now();
      onAway(cause);
    },

    /**
     * Rejects while the database cannot be written. The readiness probe then keeps callers away, so this check must try a
     * write itself.
     */
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
