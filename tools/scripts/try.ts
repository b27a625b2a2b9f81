// npm run try -- NAME ... [options]: carries out trials that are too long, or need too much of a machine, for the tests.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const BAD_USAGE = 2;

/** By name: the program, and what it shows. */
const TRIALS: Readonly<Record<string, readonly [file: string, about: string]>> = {
  alerts: ['tools/scripts/try-alerts.ts', 'each alert fires in Prometheus when its fault is made'],
  breakages: ['test/breakages/main.ts', 'the simulator finds the faults that are planted into copies of the service'],
  ci: ['tools/scripts/try-ci.ts', 'the CI jobs of docs/qa.md, with the tools that they name'],
  console: ['test/console/large-fleet.ts', 'the console with 100,000 devices, in a browser'],
  debian: ['tools/scripts/try-debian.ts', 'the Debian package and its unit'],
  delivery: ['tools/scripts/try-delivery.ts', 'everything from a checkout to an installed service that is upgraded'],
  image: ['tools/scripts/try-image.ts', 'images of the service and of the simulator'],
  mutants: ['test/mutants/main.ts', 'the tests find changes of single places'],
  objects: ['tools/bench/objects.ts', 'the event loop while a gigabyte goes through the embedded store'],
  package: ['tools/scripts/try-package.ts', 'npm packages: made twice with the same bytes, installed, used'],
  proxies: ['tools/scripts/try-proxies.ts', 'nginx, HAProxy and Caddy in front'],
  recovery: ['tools/scripts/try-recovery.ts', 'PostgreSQL: a point in time, standbys that take over'],
  soak: ['tools/scripts/soak.mjs', 'crashes, fuzz and floods for as long as you like'],
  upgrade: ['tools/scripts/try-upgrade.ts', 'upgrades from the former release, under load'],
};

const args = process.argv.slice(2);
const found = args.findIndex((word) => !Object.hasOwn(TRIALS, word));
const names = found < 0 ? args : args.slice(0, found);
if (names.length === 0) {
  const rows = Object.entries(TRIALS).map(([name, [, about]]) => `  ${name.padEnd(10)} ${about}\n`);
  const help = `npm run try -- NAME ... [options]\n\n${rows.join('')}\nOptions belong to a trial: npm run try -- NAME --help\n`;
  const isHelp = args.length === 0 || args[0] === '--help';
  process.stderr.write(isHelp ? help : `${args[0]} is no trial\n\n${help}`);
  process.exit(isHelp ? 0 : BAD_USAGE);
}
for (const name of names) {
  const [file] = TRIALS[name]!;
  const command = ['--disable-warning=ExperimentalWarning', join(ROOT, file), ...args.slice(names.length)];
  // A test process ends after half a minute by itself; a trial of the console takes minutes.
  const env = { TAP_TIMEOUT: '600', ...process.env };
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', cwd: ROOT, env });
  if (status !== 0) process.exit(status ?? 1);
}
