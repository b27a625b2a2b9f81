import { join } from 'node:path';
import { inSlots } from '../breakages/in-slots.ts';
import { createMutantCopy, type MutantCopy, type Result } from './mutant-copy.ts';
import type { Site } from './sites.ts';
import { testsOf } from './tests-of.ts';

export type Fate = 'killed' | 'survived' | 'timed out';

export interface Tried {
  readonly site: Site;
  readonly fate: Fate;
}

interface Options {
  readonly jobs: number;
  /** Seconds that one folder of tests may take. */
  readonly bound: number;
  /** A new folder for the copies. */
  readonly folder: string;
  onTried(tried: Tried): void;
}

/** Tests fail without any mutant, so they say nothing about one. */
export class FailsUnchanged extends Error {}

/** Runs tests, and again if they fail: on a busy machine a test may fail once without any reason in the program. */
async function runFairly(copy: MutantCopy, tests: string, bound: number): Promise<Result> {
  const result = await copy.run(tests, bound);
  return result === 'failed' ? copy.run(tests, bound) : result;
}

async function fateOf(copy: MutantCopy, site: Site, bound: number): Promise<Fate> {
  copy.plant(site.file, site);
  for (const tests of testsOf(site.file)) {
    const result = await runFairly(copy, tests, bound);
    if (result !== 'passed') return result === 'failed' ? 'killed' : 'timed out';
  }
  return 'survived';
}

/**
 * Plants each mutant in a copy of the checkout, and runs the tests that belong. Before, each folder of tests runs without
 * a mutant. Throws FailsUnchanged.
 */
export async function tryMutants(sites: readonly Site[], { jobs, bound, folder, onTried }: Options): Promise<Tried[]> {
  const copies = Array.from({ length: jobs }, (_, slot) => createMutantCopy(join(folder, `copy-${slot}`)));
  const needed = new Set(sites.flatMap(({ file }) => testsOf(file)));
  await inSlots([...needed], jobs, async (tests, slot) => {
    const result = await runFairly(copies[slot]!, tests, bound);
    if (result !== 'passed') throw new FailsUnchanged(`test/${tests} without a mutant: ${result}`);
  });
  return inSlots(sites, jobs, async (site, slot) => {
    const tried = { site, fate: await fateOf(copies[slot]!, site, bound) };
    onTried(tried);
    return tried;
  });
}
