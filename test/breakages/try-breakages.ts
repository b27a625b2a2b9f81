import { join } from 'node:path';
import type { Breakage } from './breakage.ts';
import { inSlots } from './in-slots.ts';
import { createPlantedCopy, OutOfDate, type PlantedCopy } from './planted-copy.ts';
import { playRun } from './play-run.ts';
import { PLAYS } from './plays.ts';
import { type Judged, judge } from './verdict.ts';

/** The result of one breakage. `isBroken`: the row itself must be mended, since nothing was tried. */
export interface Tried extends Judged {
  readonly breakage: Breakage;
  readonly seconds: number;
  readonly isBroken: boolean;
}

/** Plants each breakage into a copy of the service, and lets the simulator look for it. */
export function tryBreakages(
  breakages: readonly Breakage[],
  { jobs, folder, onTried }: { jobs: number; folder: string; onTried: (tried: Tried) => void },
): Promise<Tried[]> {
  const slots = Math.min(jobs, breakages.length);
  const copies = Array.from({ length: slots }, (_, slot) => createPlantedCopy(join(folder, `copy-${slot}`)));

  async function tryOne(
    breakage: Breakage,
    copy: PlantedCopy,
    own: string,
  ): Promise<Pick<Tried, keyof Judged | 'isBroken'>> {
    try {
      copy.plant(breakage.patches);
    } catch (error) {
      if (!(error instanceof OutOfDate)) throw error;
      return { found: false, isBroken: true, text: error.message, story: '' };
    }
    try {
      return { isBroken: false, ...judge(breakage, await playRun(copy.main, PLAYS[breakage.play], own)) };
    } catch (error) {
      const [first = ''] = (error as Error).message.split('\n');
      return { found: false, isBroken: true, text: `the broken service does not run: ${first}`, story: '' };
    }
  }

  const rows = breakages.map((breakage, at) => ({ breakage, own: join(folder, `${at + 1}-${breakage.name}`) }));
  return inSlots(rows, slots, async ({ breakage, own }, slot) => {
    const began = performance.now();
    const outcome = await tryOne(breakage, copies[slot]!, own);
    const tried = { breakage, seconds: (performance.now() - began) / 1000, ...outcome };
    onTried(tried);
    return tried;
  });
}
