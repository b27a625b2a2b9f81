// npm run try -- power [KILLS]: kills the process of a device 1,000 times at random moments, cuts the power of a simulated
// disk as often, with ten seeds, and lives a simulated year with a bad network. Half an hour; the seed is told, and may be
// given as LAPEL_SEED.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRandom } from '@lapel/device-sim/random';
import { killDevice } from './kills.ts';
import { cutPower } from './simulated-cuts.ts';
import { liveDays } from './simulated-days.ts';

const CUTS = 1000;
const SEEDS = 10;
const TELL_EVERY = 50;
const DAYS = 365;
const MUST_BE_0 = ['doneAgain', 'unaware', 'differing', 'doubled', 'lost', 'unanswered', 'late'];

const kills = Number(process.argv[2] ?? CUTS);
const seed = Number(process.env['LAPEL_SEED'] ?? Date.now() % 1_000_000);
process.stdout.write(`seed ${seed}\n`);
let wrong = 0;

function tell(about: string, figures: object): void {
  process.stdout.write(`${about}: ${JSON.stringify(figures)}\n`);
  for (const [name, count] of Object.entries(figures)) if (MUST_BE_0.includes(name)) wrong += count;
}

for (let at = 0; at < SEEDS; at += 1) tell(`simulated disk, seed ${seed + at}`, cutPower(seed + at, CUTS));
tell(`${DAYS} simulated days`, liveDays(seed, DAYS));
const folder = mkdtempSync(join(tmpdir(), 'lapel-device-'));
const figures = await killDevice(folder, kills, createRandom(seed), (kill) => {
  if (kill % TELL_EVERY === 0) process.stdout.write(`killed ${kill} times\n`);
});
tell('real file, killed process', figures);
rmSync(folder, { recursive: true });
process.exitCode = wrong === 0 ? 0 : 1;
