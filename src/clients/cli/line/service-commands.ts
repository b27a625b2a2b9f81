import { optionName, SETTINGS } from '../../../config.ts';
import { readArguments } from './command-line.ts';
import type { Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** A command that is no client: it acts on the settings and the data folder of this machine. `main.ts` carries it out. */
interface ServiceCommand {
  /** One line. */
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

const DOCTOR_HELP = `Looks at the settings and the data folder, and changes nothing; with a service on the folder or without one.

  lapel doctor                        what a start looks at
  lapel doctor --check-database       reads the whole database too, in one go: a service on the folder is slower meanwhile
  lapel doctor --data-dir DIR         any setting of lapel serve may be given

Exit codes: 0 all is well, 1 something is damaged, 78 a setting is wrong.
`;

/** By their names, in the order of the overview. */
export const SERVICE_COMMANDS = {
  serve: {
    summary: 'Starts the service; lapel serve --help shows all settings',
    options: SETTING_OPTIONS,
    help: settingsHelp,
  },
  doctor: {
    summary: 'Looks at the settings and the data folder, and reads the database whole with --check-database',
    options: { ...SETTING_OPTIONS, 'check-database': { text: 'reads the whole database' } },
    help: () => DOCTOR_HELP,
  },
} satisfies Record<string, ServiceCommand>;

/** What the command line of one of them says: the settings by the names of their options, and its flags. Throws a UsageError. */
export function readServiceCommand(name: keyof typeof SERVICE_COMMANDS, args: readonly string[]) {
  const given = readArguments(args, SERVICE_COMMANDS[name].options);
  const [surplus] = given.positionals;
  if (surplus !== undefined) throw new UsageError(surplus, 'is no setting');
  if (given.flag('json')) throw new UsageError('--json', 'is no setting');
  const settings = Object.fromEntries(Object.keys(SETTING_OPTIONS).map((option) => [option, given.text(option)]));
  return { settings, flag: given.flag };
}
