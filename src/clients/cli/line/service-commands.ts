import { optionName, SETTINGS } from '../../../config.ts';
import { type Given, readArguments } from './command-line.ts';
import type { Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** A command that is not a client: it works on this machine, without a running service. `main.ts` runs it. */
interface ServiceCommand {
  /** A description in one line. */
  summary: string;
  options: Options;
  help(): string;
}

const SETTING_OPTIONS: Options = Object.fromEntries(
  SETTINGS.map(({ name, description }) => [optionName(name), { value: 'V', text: description }]),
);

const SERVE_CODES =
  'Exit codes: 0 ended by a signal; 2 wrong command line; 70 an unforeseen failure; 78 a setting is wrong, the data folder\n' +
  'is in use, or this Node does not fit.';

function settingsHelp(): string {
  const rows = SETTINGS.map(({ name, fallback, description }) => {
    const option = `--${optionName(name)}`;
    return `  ${option.padEnd(28)} ${name.padEnd(28)} ${(fallback ?? '-').padEnd(12)} ${description}`;
  });
  return `Settings of lapel serve (option, environment variable, default):\n\n${rows.join('\n')}\n\n${SERVE_CODES}\n`;
}

const DOCTOR_HELP = `Checks the settings and the database without changing anything. The service may be running or not.

  lapel doctor                        checks the same things as a start of the service
  lapel doctor --check-database       also checks the whole database; a running service is slower meanwhile
  lapel doctor --data-dir DIR         accepts every setting of lapel serve as an option

Exit codes: 0 no problem found, 1 database damaged or unusable, 2 wrong command line, 78 a setting or this Node is wrong.
`;

const DEMO_HELP = `A tour of Lapel with five simulated cameras on this machine. Its data are removed at the end.

  lapel demo              shows the tour, then stays up, to go on by hand; Ctrl-C ends it
  lapel demo --once       ends after the tour
  lapel demo --cluster    two nodes on PostgreSQL (which must be installed), of which one is killed; ends by itself

Exit codes: 0 every promise was kept, 1 one was not, 2 wrong command line, 130 interrupted (Ctrl-C).
`;

/** The commands by name, in the order of the overview. */
export const SERVICE_COMMANDS = {
  serve: {
    summary: 'Starts the service; lapel serve --help shows all settings',
    options: SETTING_OPTIONS,
    help: settingsHelp,
  },
  doctor: {
    summary: 'Checks the settings and the database; with --check-database reads the whole database',
    options: { ...SETTING_OPTIONS, 'check-database': { text: 'check the whole database' } },
    help: () => DOCTOR_HELP,
  },
  demo: {
    summary: 'Shows the main job with simulated cameras, on this machine; with --once ends after the tour',
    options: {
      once: { text: 'end after the tour' },
      cluster: { text: 'two nodes on PostgreSQL, of which one is killed' },
    },
    help: () => DEMO_HELP,
  },
} satisfies Record<string, ServiceCommand>;

function refuseSurplus({ positionals: [surplus], flag }: Given, reason: string): void {
  if (surplus !== undefined) throw new UsageError(surplus, reason);
  if (flag('json')) throw new UsageError('--json', reason);
}

/** Reads the arguments of `lapel demo`. Throws a UsageError. */
export function readDemoCommand(args: readonly string[]): { once: boolean; cluster: boolean } {
  const given = readArguments(args, SERVICE_COMMANDS.demo.options);
  refuseSurplus(given, 'is not an option of this command');
  return { once: given.flag('once'), cluster: given.flag('cluster') };
}

/**
 * Reads the arguments of `lapel serve` or `lapel doctor`: the settings by their option names, and the flags. Throws a
 * UsageError.
 */
export function readServiceCommand(name: 'serve' | 'doctor', args: readonly string[]) {
  const given = readArguments(args, SERVICE_COMMANDS[name].options);
  refuseSurplus(given, 'is not a setting');
  const settings = Object.fromEntries(Object.keys(SETTING_OPTIONS).map((option) => [option, given.text(option)]));
  return { settings, flag: given.flag };
}
