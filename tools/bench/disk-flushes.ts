import { readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';

/** The place of the figure in the kernel's statistics of a disk (Documentation/block/stat.rst, "flush I/Os"). */
const FLUSHES = 15;

/** The statistics of the disk that has the temporary folder, whose number the kernel makes of two: major and minor. */
function statisticsFile(): string {
  const { dev } = statSync(tmpdir());
  const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)];
  return `/sys/dev/block/${major}:${minor}/stat`;
}

/**
 * How often the disk of the temporary folder was told to write its cache through: each fsync does so once. All processes of
 * the machine count. NaN if the kernel does not tell.
 */
export function diskFlushes(): number {
  try {
    return Number(readFileSync(statisticsFile(), 'utf8').trim().split(/\s+/)[FLUSHES]);
  } catch {
    return Number.NaN; // not Linux, or a folder without a disk of its own
  }
}
