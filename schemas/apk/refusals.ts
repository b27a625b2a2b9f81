import { isUtf8 } from 'node:buffer';
import type { Entry } from 'yauzl';
import { ApkError } from './apk-error.ts';
import type { BoundedSource } from './bounded-source.ts';

/** The bytes with which a file begins in an archive. */
const LOCAL_HEADER = Buffer.from('PK\x03\x04', 'latin1');

export type Refusals = ReturnType<typeof createRefusals>;

/**
 * Collects the reasons for which Android refuses an archive that other programs read: its libziparchive demands names
 * without NUL in UTF-8, entries before the directory, and an entry at the first byte of the file.
 */
export function createRefusals(directory: number) {
  const reasons = new Set<string>();
  return {
    check({ fileName, relativeOffsetOfLocalHeader }: Entry): void {
      const name = fileName as unknown as Buffer; // the archive is opened without decoding of names
      if (name.includes(0)) reasons.add('the name of an entry has a NUL character');
      else if (!isUtf8(name)) reasons.add('the name of an entry is not UTF-8');
      if (relativeOffsetOfLocalHeader >= directory) reasons.add('an entry lies behind the directory of the archive');
    },

    async checkBeginning(source: BoundedSource): Promise<void> {
      try {
        const beginning = await source.part(0, LOCAL_HEADER.length);
        if (!beginning.equals(LOCAL_HEADER)) reasons.add('there are bytes before the archive');
      } catch (error) {
        if (!(error instanceof ApkError)) throw error; // the reads are used up, so this is not known
      }
    },

    found: (): string[] => [...reasons],
  };
}
