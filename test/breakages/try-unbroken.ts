import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { inSlots } from './in-slots.ts';
import { createPlantedCopy } from './planted-copy.ts';
import { playRun } from './play-run.ts';
import { PLAYS, type Play, type PlayName } from './plays.ts';

const BURNERS = 2;
const HOLDS = 0;
const NOT_RUN = 4;

/** A run against the service without a fault. */
export interface Unbroken {
  readonly name: PlayName;
  readonly seconds: number;
  readonly outcome: 'good' | 'not run' | 'alarm';
  /** The expectations that do not hold, or the reasons why the run did not take place. */
  readonly texts: readonly string[];
}

/** Processes of the lowest priority that use the processors as far as nobody else does, until they are ended. */
function startBurners(): ChildProcess[] {
  return Array.from({ length: BURNERS }, () =>
    spawn('nice', ['-n', '19', process.execPath, '-e', 'for (;;);'], { stdio: 'ignore' }),
  );
}

async function playOnce(main: string, name: PlayName, folder: string): Promise<Omit<Unbroken, 'seconds'>> {
  const play: Play = PLAYS[name];
  const { code, record, output } = await playRun(main, play, folder);
  if (code === HOLDS) return { name, outcome: 'good', texts: [] };
  const broken = record?.verdicts.filter(({ holds, measurable }) => !holds && measurable) ?? [];
  const texts = broken.map(({ text, shown, story }) => `${text}: ${shown}; ${story.at(-1)?.trim() ?? 'no story'}`);
  if (code === NOT_RUN) return { name, outcome: 'not run', texts: [...(record?.notRun ?? []), ...texts] };
  return { name, outcome: 'alarm', texts: texts.length > 0 ? texts : [output.trim().split('\n').at(-1) ?? ''] };
}

/** Plays so many runs against the service without a fault, in turn, beside processes that burn time. */
export async function tryUnbroken(
  runs: number,
  { jobs, folder, onPlayed }: { jobs: number; folder: string; onPlayed: (played: Unbroken) => void },
): Promise<Unbroken[]> {
  const names = Object.keys(PLAYS) as PlayName[];
  const tasks = Array.from({ length: runs }, (_, at) => ({ at, name: names[at % names.length]! }));
  const { main } = createPlantedCopy(join(folder, 'copy'));
  const burners = startBurners();
  try {
    return await inSlots(tasks, Math.min(jobs, runs), async ({ at, name }) => {
      const began = performance.now();
      const played = await playOnce(main, name, join(folder, `${at + 1}-${name}`));
      const whole = { ...played, seconds: (performance.now() - began) / 1000 };
      onPlayed(whole);
      return whole;
    });
  } finally {
    for (const burner of burners) burner.kill('SIGKILL');
  }
}
