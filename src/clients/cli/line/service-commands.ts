import { optionName, SETTINGS } from '../../../config.ts';
import { readArguments } from './command-line.ts';
import type { Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** A command that is not a client: it works on the settings and the data folder of this machine. `main.ts` runs it. */
interface ServiceCommand {
  /** A description in one line. */
  summary: string;
  options: Options;
  help(): string;
}

const SETTING_OPTIONS: Options = Object.fromEntries(
  SETTINGS.map(({ name, description }) => [optionName(name), { value: 'V', text: description }]),
);

function settingsHelp(): string {
  const rows = SETTINGS.map(({ name, fallback, description }) => {
    const option = `--${optionName(name)}`;
    return `  ${option.padEnd(28)} ${name.padEnd(28)} ${(fallback ?? '-').padEnd(12)} ${description}`;
  });
  return `Settings of lapel serve (option, environment variable, default):\n\n${rows.join('\n')}\n`;
}

const DOCTOR_HELP = `Checks the settings and the database without changing anything. The service may be running or not.

  lapel doctor                        checks the same things as a start of the service
  lapel doctor --check-database       also checks the whole database; a running service is slower meanwhile
  lapel doctor --data-dir DIR         accepts every setting of lapel serve as an option

Exit codes: 0 no problem found, 1 database damaged or unusable, 78 a setting is wrong.
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
} satisfies Record<string, ServiceCommand>;

/**
 * Reads the arguments of `lapel serve` or `lapel doctor`: the settings by their option names, and the flags. Throws a
 * UsageError.
 */
export function readServiceCommand(name: keyof typeof SERVICE_COMMANDS, args: readonly string[]) {
  const given = readArguments(args, SERVICE_COMMANDS[name].options);
  const [surplus] = given.positionals;
  if (surplus !== undefined) throw new UsageError(surplus, 'is not a setting');
  if (given.flag('json')) throw new UsageError('--json', 'is not a setting');
  const settings = Object.fromEntries(Object.keys(SETTING_OPTIONS).map((option) => [option, given.text(option)]));
  return { settings, flag: given.flag };
}
