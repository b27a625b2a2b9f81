import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Patch } from './breakage.ts';

const ROOT = join(import.meta.dirname, '../..');
/** The service reads these folders and never writes them, so the copy leads to those of the checkout. */
const SHARED = ['schemas', 'console', 'node_modules', 'package.json'];

/** The search text of a patch is not in its file, or is there several times. */
export class OutOfDate extends Error {}

/** The text of the patched file. Throws OutOfDate. */
function patched(text: string, { file, search, replacement }: Patch): string {
  const parts = text.split(search);
  if (parts.length !== 2)
    throw new OutOfDate(
      `the breakage is out of date: src/${file} has its search text ${parts.length - 1} times: ${search}`,
    );
  return parts.join(replacement);
}

/** The changed files by their paths below `src/`. Throws OutOfDate. */
export function patchedFiles(patches: readonly Patch[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const patch of patches) {
    const text = texts.get(patch.file) ?? readFileSync(join(ROOT, 'src', patch.file), 'utf8');
    texts.set(patch.file, patched(text, patch));
  }
  return texts;
}

/** A copy of the service's source in a new folder, which has the faults of one breakage at a time. */
export interface PlantedCopy {
  /** The path of the copy's main file, which starts the service. */
  readonly main: string;
  /** Replaces the faults that were planted before. Throws OutOfDate, and then plants nothing. */
  plant(patches: readonly Patch[]): void;
}

export function createPlantedCopy(folder: string): PlantedCopy {
  mkdirSync(folder);
  cpSync(join(ROOT, 'src'), join(folder, 'src'), { recursive: true });
  for (const name of SHARED) symlinkSync(join(ROOT, name), join(folder, name));
  let planted: readonly string[] = [];
  return {
    main: join(folder, 'src/main.ts'),
    plant(patches) {
      const texts = patchedFiles(patches);
      for (const file of planted) cpSync(join(ROOT, 'src', file), join(folder, 'src', file));
      for (const [file, text] of texts) writeFileSync(join(folder, 'src', file), text);
      planted = [...texts.keys()];
    },
  };
}
