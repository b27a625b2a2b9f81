// npm run try -- releases: plays bad releases, and good ones, and prints which of them a rollout with health rules stops.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { inSlots } from '../breakages/in-slots.ts';
import { type Release, releaseOf, releaseRow, releasesFrom } from './releases.ts';
import { playWorlds } from './worlds.ts';

const BAD_USAGE = 2;
/** Bad releases that may stay unfound, the most percent of the fleet that has one when it is stopped, and false stops. */
const BOUNDS = { missed: 2, treatedPercent: 3, falseStopsOf: 200 };
const HELP = `npm run try -- releases [options]

Plays forty bad releases in the simulated world, ten kinds in four strengths, and good ones. Each goes to a fleet with an
ordinary life: 5 % of the devices are off, some are put away, and a region has no network for an hour. A first stage of
thirty devices soaks under health rules. It prints whether the rollout was stopped, by which measure, after which time,
and how many devices had the release then. The exit code is 0 if at least 38 of the 40 are stopped, with at most 3 % of
the devices in the median, and at most one good release in 200.

  --devices N  the devices of a fleet (1000)
  --good N     the number of good releases (200)
  --only TEXT  only releases whose name has this text
  --seed N     the first seed (1)
  --jobs N     worlds that are played at a time (one for each processor)
`;

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '1000' },
    good: { type: 'string', default: '200' },
    only: { type: 'string', default: '' },
    seed: { type: 'string', default: '1' },
    jobs: { type: 'string', default: String(availableParallelism()) },
    help: { type: 'boolean', default: false },
  },
});
const numberOf = (name: 'devices' | 'good' | 'seed' | 'jobs'): number => {
  const number = Number(values[name]);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  process.stderr.write(`--${name}: ${values[name]} is no whole number\n\n${HELP}`);
  process.exit(BAD_USAGE);
};
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const say = (text: string): void => void process.stdout.write(`${text}\n`);
type Row = ReturnType<typeof releaseRow>;

function line({ name, isStopped, by, minutes, treatedPercent, trouble }: Row): string {
  const stopped = isStopped ? `by ${by} after ${minutes} min` : '';
  const had = `${treatedPercent.toFixed(1)} % had it`;
  const state = trouble.length > 0 ? 'TROUBLE' : isStopped ? 'stopped' : 'not';
  return [
    `${name.padEnd(42)} ${state.padEnd(8)} ${had.padEnd(13)} ${stopped}`,
    ...trouble.map((text) => `  ${text}`),
  ].join('\n');
}

const nameOf = (release: Release): string =>
  release.kind === undefined ? 'a good release' : `${release.kind}, ${release.percent} %`;
const releases = releasesFrom(numberOf('seed'), numberOf('good')).filter((release) =>
  nameOf(release).includes(values.only),
);
const devices = numberOf('devices');
const rows = await inSlots(releases, numberOf('jobs'), async (release): Promise<Row> => {
  let row: Row | undefined;
  await playWorlds([releaseOf(release, devices)], {
    onTold(told) {
      row = releaseRow(release, told);
      return false;
    },
  });
  if (!row) throw new Error(`${nameOf(release)} was not played`);
  say(line(row));
  return row;
});

const [bad, good] = [rows.filter(({ isGood }) => !isGood), rows.filter(({ isGood }) => isGood)];
const stopped = bad.filter(({ isStopped }) => isStopped);
const shares = stopped.map(({ treatedPercent }) => treatedPercent).toSorted((one, other) => one - other);
const median = shares[shares.length >> 1];
const falseStops = good.filter(({ isStopped }) => isStopped).length;
const troubles = rows.filter(({ trouble }) => trouble.length > 0).length;
say('');
say(
  `${stopped.length} of ${bad.length} bad releases stopped; in the median ${median?.toFixed(1) ?? '-'} % of the devices had one then`,
);
say(`${falseStops} of ${good.length} good releases stopped`);
if (troubles > 0) say(`${troubles} worlds had trouble of their own`);
const isBad =
  bad.length - stopped.length > BOUNDS.missed ||
  (median ?? 0) > BOUNDS.treatedPercent ||
  falseStops > Math.ceil(good.length / BOUNDS.falseStopsOf) ||
  troubles > 0;
process.exitCode = isBad ? 1 : 0;
