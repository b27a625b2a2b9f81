// npm run simulate: plays worlds of the whole service, each from one number, and prints those that break a promise.
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { inSlots } from '../breakages/in-slots.ts';
import { FAULTS } from './faults.ts';
import { meetingsText } from './meetings.ts';
import type { Plan } from './plan.ts';
import { planOf } from './plan-of.ts';
import { shrink } from './shrink.ts';
import type { Told } from './told.ts';
import { playWorlds } from './worlds.ts';
import { yearOf } from './year.ts';

const BAD_USAGE = 2;
const HELP = `npm run simulate -- [options]

Plays worlds: the whole service, its devices, its customer and its receiver in one process, with a time, a network and a
disk of their own. A seed decides everything, and the same seed does the same again. It prints each world that breaks a
promise, and the command that plays it again. The exit code is 0 if none does, 1 if one does or did
not take place, 2 for a wrong command line.

  --seed N       the first seed (1)
  --count N      how many seeds are played (20)
  --jobs N       how many worlds are played at a time (one for each processor)
  --months N     plays months of ordinary life instead, of as many devices as --devices says (1000)
  --devices N
  --world FILE   plays the world of a file in place of seeds
  --save FILE    writes the first world that breaks a promise into a file
  --shrink       makes that world smaller, as long as it still breaks it
  --meetings     prints which events have met which phases of commands, rollouts and deliveries, and which never did
  --endpoints    all customers have an ordered endpoint beside the URLs of settings, and not only a quarter of them
  --log          prints all that happens in the world, and the log of the service, on standard error
  --break NAME   plants a fault into the service: one of those of npm run try -- breakages --list, or of planted.ts
  --faults TEXT  plants each fault whose name has this text, or that is of this group (meetings, endpoints, breakages), and counts the
                 seeds until one shows it
`;

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '20' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    months: { type: 'string' },
    devices: { type: 'string', default: '1000' },
    world: { type: 'string' },
    save: { type: 'string' },
    shrink: { type: 'boolean', default: false },
    meetings: { type: 'boolean', default: false },
    endpoints: { type: 'boolean', default: false },
    log: { type: 'boolean', default: false },
    break: { type: 'string' },
    faults: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

function refuse(problem: string): never {
  process.stderr.write(`${problem}\n\n${HELP}`);
  process.exit(BAD_USAGE);
}

function numberOf(name: 'seed' | 'count' | 'jobs' | 'devices' | 'months'): number {
  const number = Number(values[name]);
  return Number.isSafeInteger(number) && number > 0
    ? number
    : refuse(`--${name}: ${values[name]} is no number above 0`);
}

if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (values.break !== undefined && !FAULTS.some(({ name }) => name === values.break))
  refuse(`--break: ${values.break} is no breakage`);

function plansOf(): Plan[] {
  const { world, months } = values;
  if (world !== undefined) return [JSON.parse(readFileSync(world, 'utf8')) as Plan];
  const seed = numberOf('seed');
  if (months !== undefined) return [yearOf(seed, { devices: numberOf('devices'), months: numberOf('months') })];
  return Array.from({ length: numberOf('count') }, (_, place) => ({
    ...planOf(seed + place),
    ...(values.endpoints && { hasEndpoint: true }),
  }));
}
const plans = plansOf();
const jobs = numberOf('jobs');

/** Plays all seeds against each fault, until one shows it. */
async function findFaults(names: readonly string[]): Promise<number> {
  const seeds: (number | undefined)[] = await inSlots([...names], jobs, async (breakage) => {
    let played = 0;
    let found: number | undefined;
    await playWorlds(plans, {
      breakage,
      onTold({ broken: [first] }) {
        played += 1;
        if (first === undefined) return false;
        found = played;
        process.stdout.write(`found after ${String(played).padStart(3)}  ${breakage}: ${first.split('\n')[0]}\n`);
        return true;
      },
    });
    if (found === undefined) process.stdout.write(`NOT in ${String(played).padStart(8)}  ${breakage}\n`);
    return found;
  });
  const found = seeds.filter((one) => one !== undefined).sort((one, two) => one - two);
  const median = found[found.length >> 1];
  const within = median === undefined ? '' : `; half of them within ${median} worlds`;
  process.stdout.write(`\n${found.length} of ${names.length} faults found${within}\n`);
  return found.length === names.length ? 0 : 1;
}
if (values.faults !== undefined) {
  const { faults } = values;
  const names = FAULTS.filter(({ name, group }) => group === faults || name.includes(faults)).map(({ name }) => name);
  process.exit(await findFaults(names));
}

const played: Told[] = [];
await Promise.all(
  Array.from({ length: Math.min(jobs, plans.length) }, (_, job) =>
    playWorlds(
      plans.filter((_plan, place) => place % jobs === job),
      {
        breakage: values.break,
        isLogged: values.log,
        onTold(told) {
          played.push(told);
          const { seed, broken, notRun, trace, events, milliseconds, took } = told;
          const state = broken.length > 0 ? 'BROKEN' : notRun.length > 0 ? 'NOT RUN' : 'ok';
          process.stdout.write(
            `${state.padEnd(8)} seed ${seed}: ${(milliseconds / 1000).toFixed(0)} s of the world, ${events} events, ${(took / 1000).toFixed(1)} s, ${trace.slice(0, 12)}\n`,
          );
          for (const text of [...broken, ...notRun]) process.stdout.write(`  ${text}\n`);
          return false;
        },
      },
    ),
  ),
);
if (values.meetings) process.stdout.write(meetingsText(played.map(({ meetings }) => meetings)));
const broken = played.filter((told) => told.broken.length > 0).sort((one, two) => one.seed - two.seed);
const [first] = broken;
const notRun = played.filter((told) => told.notRun.length > 0).length;
process.stdout.write(`\n${played.length} worlds, ${broken.length} broken, ${notRun} did not take place\n`);
if (first) {
  const plan = plans.find(({ seed }) => seed === first.seed)!;
  const saved = values.shrink
    ? await shrink(plan, async (smaller) => {
        let isBroken = false;
        await playWorlds([smaller], {
          breakage: values.break,
          onTold(told) {
            isBroken = told.broken.length > 0;
            return false;
          },
        });
        return isBroken;
      })
    : plan;
  if (values.save !== undefined) writeFileSync(values.save, `${JSON.stringify(saved, undefined, 2)}\n`);
  const file = values.save ?? values.world;
  const again =
    file === undefined ? `--seed ${first.seed} --count 1${values.endpoints ? ' --endpoints' : ''}` : `--world ${file}`;
  process.stdout.write(
    `Again: npm run simulate -- ${again}${values.break === undefined ? '' : ` --break ${values.break}`}\n`,
  );
}
process.exitCode = broken.length > 0 || notRun > 0 ? 1 : 0;
