import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Play } from './plays.ts';
import { startServiceOfPlay } from './service-of-play.ts';
import { type Simulated, simulate } from './simulate.ts';

/** Plays one run against the program, in a new folder. Rejects if the program does not start. */
export async function playRun(main: string, play: Play, folder: string): Promise<Simulated> {
  mkdirSync(folder, { recursive: true });
  await using service = await startServiceOfPlay(main, folder);
  const { addresses } = service;
  const stopped = new AbortController();
  const beside =
    play.beside === undefined
      ? undefined
      : simulate(addresses, { scenario: play.beside, developer: 'neighbour' }, join(folder, 'beside'));
  const judged = simulate(addresses, { ...play, developer: 'judged' }, join(folder, 'report'));
  const ends = await Promise.allSettled([
    judged.finally(() => stopped.abort()),
    service.killAsPlanned(play.kill, stopped.signal),
    beside,
  ]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return judged;
}
