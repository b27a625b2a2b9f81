import { optionName, SETTINGS, type Setting } from '@lapel/schemas/contracts/settings';
import { type Given, readArguments } from './command-line.ts';
import type { Options } from './options.ts';
import { UsageError } from './usage-error.ts';

/** A command that is not a client: it works on this machine, without a running service. `main.ts` runs it. */
interface ServiceCommand {
  /** The name of its one argument, if it has one. */
  argument?: string;
  /** A description in one line. */
  summary: string;
  options: Options;
  /** Its help; `all`: with what few people need. */
  help(all?: boolean): string;
}

const SETTING_OPTIONS: Options = Object.fromEntries(
  SETTINGS.map((setting: Setting) => {
    const { name, description } = setting;
    const text = setting.secret
      ? `not an option, which others can read: ${name}_FILE, or the environment`
      : description;
    return [optionName(name), { value: 'V', text }];
  }),
);

const SERVE_CODES =
  'Exit codes: 0 ended by a signal; 2 wrong command line; 70 an unforeseen failure; 78 a setting is wrong, the data folder\n' +
  'is in use, the database is of a newer release, or this Node does not fit.';

const rowOf = ({ name, fallback, description, secret }: Setting): string => {
  const option = secret ? '' : `--${optionName(name)}`;
  return `  ${option.padEnd(28)} ${name.padEnd(28)} ${(fallback ?? '-').padEnd(12)} ${description}\n`;
};
const rowsOf = (rank: Setting['rank']): string =>
  SETTINGS.filter((setting: Setting) => setting.rank === rank)
    .map(rowOf)
    .join('');

function settingsHelp(all = false): string {
  const rest = all
    ? `Advanced\n${rowsOf('advanced')}`
    : 'lapel serve --help --all also lists those that few services need.\n';
  return `Settings of lapel serve (option, environment variable, default)

A service that others reach needs these first
${rowsOf('first')}
Others
${rowsOf(undefined)}
${rest}
${SERVE_CODES}
`;
}

const DOCTOR_HELP = `Checks the settings, the TLS files and the database without changing anything. The service may be running or not.

  lapel doctor                        looks at all that a start needs, at the clock and at receivers that fail
  lapel doctor --check-database       also checks the whole database; a running service is slower meanwhile
  lapel doctor --data-dir DIR         accepts every setting of lapel serve as an option

Advice is no problem. Exit codes: 0 no problem found, 1 a problem (port in use, disk full, certificate expired, database
damaged or unusable), 2 wrong command line, 78 a setting or this Node is wrong.
`;

const DEMO_HELP = `A tour of Lapel with five simulated cameras on this machine. Its data are removed at the end. It listens on the
ports 8080, 8081, 8082 and 1883, or on free ones if these are taken. It does not read the settings of lapel serve.

  lapel demo              shows the tour, then stays up, to go on by hand; Ctrl-C ends it
  lapel demo --once       ends after the tour
  lapel demo --cluster    two nodes on PostgreSQL (which must be installed), of which one is killed; ends by itself

Exit codes: 0 every promise was kept, 1 one was not, 2 wrong command line, 130 interrupted (Ctrl-C).
`;

const MIGRATE_HELP = `Brings the database to the schema of this release, as the first start of the service would.

TAKE A COPY FIRST, THERE IS NO WAY BACK: an older release refuses the database from then on. lapel backup FOLDER makes a
copy of SQLite while the service runs; for PostgreSQL make a base backup.

  lapel migrate --dry-run             only says what will be done, how long it takes, and how much disk it needs
  lapel migrate                       does it; a process that is killed goes on the next time
  lapel migrate --data-dir DIR        accepts every setting of lapel serve as an option

Times and sizes are measured on this machine with up to 20000 rows of each table, so they are estimates. --dry-run may run
beside the service. On SQLite stop the service before a migration; on PostgreSQL nodes of the release before go on.

Exit codes: 0 done, 1 refused (the disk is too small, the database is of a newer release or cannot be used), 2 wrong
command line, 78 a setting is wrong, or the data folder is in use.
`;

const BACKUP_HELP = `Makes a backup of a data folder on SQLite, while the service runs or not: the database as it is at one moment, the
administrator token, the key of the embedded object store, and its objects. The copy of the database is checked whole.

  lapel backup FOLDER                 FOLDER must be new or empty; it gets its name when the backup is finished
  lapel backup FOLDER --no-objects    without the objects, for example because they are copied in another way
  lapel backup FOLDER --data-dir DIR  accepts every setting of lapel serve as an option

Exit codes: 0 the backup is finished and checked, 1 it is not, 78 a setting is wrong.
`;

const RESTORE_HELP = `Restores a backup that lapel backup has made into a data folder, which must be new or empty: nothing is overwritten.
The checksums of the backup are checked before, and the database after.

  lapel restore FOLDER --data-dir DIR

Then start the service with --webhooks-held true, if you want to look at it before it sends webhooks again.

Exit codes: 0 restored, 1 not restored, 78 a setting is wrong, or the data folder is in use.
`;

const DOCS_HELP = `Writes the documents into a folder: guides, the reference of the API, its messages, and the search. They are files with
relative links, which any server of files can serve, and which can be opened without one.

  lapel docs FOLDER                                       with the addresses and the time zone of the settings
  lapel docs FOLDER --public-url https://lapel.example    with this address in the examples

Files of the same names in FOLDER are replaced. A running service has the same pages at /docs, with forms that make calls.

Exit codes: 0 written, 1 not written, 2 wrong command line, 78 a setting is wrong.
`;

const OWNER_HELP = `Lets an owner into administration, when nobody has a valid token any more. Makes PERSON an owner (a new person, if there is
none of this id; a disabled one is enabled) and shows a new token, which is valid for 7 days. The service may be running
or not. The audit log has an entry of it.

  lapel owner PERSON --data-dir DIR        accepts every setting of lapel serve as an option
  lapel owner PERSON --database-url URL    with PostgreSQL

Then sign in with the token, or: lapel admin token create PERSON --name laptop --token TOKEN

Exit codes: 0 the token is valid, 1 refused (there is no database, or it is of an older release), 2 wrong command line, 78
a setting is wrong.
`;

const AUDIT_HELP = `Checks that no entry of the audit log was changed, removed or inserted: each complete entry has the hash of itself and of
the entry before it. Says which is the first that is not as it was written. Only reads; the service may be running or not.

  lapel audit verify --data-dir DIR                 also for the folder of a backup that was restored
  lapel audit verify --database-url URL             with PostgreSQL
  lapel audit verify --position N --hash HASH       also checks that an end of the chain that was noted before is part of it

Note the end of the chain elsewhere from time to time: a thief who can write the database can also write the whole chain anew.

Exit codes: 0 all entries are as they were written, 1 one is not, or there is no database, 2 wrong command line, 78 a
setting is wrong.
`;

const CLOCK_HELP = `Confirms that the clock of this machine is right. The service does not believe a clock that is more than a day ahead
of the latest time at which it ran: it may have been off for so long, or the clock may be wrong. Until somebody confirms
the time, nothing expires, nothing is removed, and no rollout goes on. With PostgreSQL the clock of its server decides.

  lapel clock confirm --data-dir DIR        a running service notices it within ten seconds

Exit codes: 0 confirmed, 1 refused (PostgreSQL, or no data folder), 2 wrong command line, 78 a setting is wrong.
`;

const MOVE_HELP = `Moves all data of the service to the other database, which must be empty. Stop the service before. The rows of each
table are compared as both databases give them, and nothing is stored if they differ. The former database stays.

  lapel move --to postgres --data-dir DIR --database-url URL    from SQLite in DIR to the empty database at URL
  lapel move --to sqlite --data-dir DIR --database-url URL      from the database at URL to SQLite in DIR

Objects are not moved: the embedded object store stays in the data folder. Then start the service with the new database
only: devices and receivers must never be served from both.

Exit codes: 0 moved, 1 not moved, 78 a setting is wrong, or the data folder is in use.
`;

/** The commands by name, in the order of the overview. */
export const SERVICE_COMMANDS = {
  serve: {
    summary: 'Starts the service; lapel serve --help shows its settings',
    options: SETTING_OPTIONS,
    help: settingsHelp,
  },
  doctor: {
    summary: 'Looks at settings, ports, disk, files, certificates, database, clock and receivers',
    options: { ...SETTING_OPTIONS, 'check-database': { text: 'check the whole database' } },
    help: () => DOCTOR_HELP,
  },
  migrate: {
    summary: 'Migrates the database of an older release; with --dry-run says how long and how much disk it takes',
    options: { ...SETTING_OPTIONS, 'dry-run': { text: 'change nothing, only say what would be done' } },
    help: () => MIGRATE_HELP,
  },
  backup: {
    argument: 'FOLDER',
    summary: 'Makes a checked backup of the database, the keys and the objects, while the service runs',
    options: { ...SETTING_OPTIONS, 'no-objects': { text: 'leave out the objects of the embedded store' } },
    help: () => BACKUP_HELP,
  },
  restore: {
    argument: 'FOLDER',
    summary: 'Restores a backup into an empty data folder',
    options: SETTING_OPTIONS,
    help: () => RESTORE_HELP,
  },
  move: {
    summary: 'Moves all data between SQLite and PostgreSQL, and compares every table',
    options: {
      ...SETTING_OPTIONS,
      to: { value: 'DATABASE', choices: ['postgres', 'sqlite'], text: 'the database that the data is moved to' },
    },
    help: () => MOVE_HELP,
  },
  owner: {
    argument: 'PERSON',
    summary: 'Makes a person an owner with a new token, on the machine of the service, when nobody can sign in',
    options: SETTING_OPTIONS,
    help: () => OWNER_HELP,
  },
  audit: {
    argument: 'verify',
    summary: 'Checks that no entry of the audit log was changed, removed or inserted: lapel audit verify',
    options: {
      ...SETTING_OPTIONS,
      position: { value: 'N', text: 'the position of an end of the chain that was noted' },
      hash: { value: 'HASH', text: 'the hash of that end' },
    },
    help: () => AUDIT_HELP,
  },
  clock: {
    argument: 'confirm',
    summary: 'Confirms the time of this machine, after the clock has leapt or the service was off: lapel clock confirm',
    options: SETTING_OPTIONS,
    help: () => CLOCK_HELP,
  },
  docs: {
    argument: 'FOLDER',
    summary: 'Writes the documents that a service shows at /docs into a folder of files',
    options: SETTING_OPTIONS,
    help: () => DOCS_HELP,
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

/** Throws a UsageError if there is another argument after the first `own` ones, or --json. */
function refuseSurplus({ positionals, flag }: Given, own: number, reason: string): void {
  const surplus = positionals[own];
  if (surplus !== undefined) throw new UsageError(surplus, reason);
  if (flag('json')) throw new UsageError('--json', reason);
}

/** Reads the arguments of `lapel demo`. Throws a UsageError. */
export function readDemoCommand(args: readonly string[]): { once: boolean; cluster: boolean } {
  const given = readArguments(args, SERVICE_COMMANDS.demo.options);
  refuseSurplus(given, 0, 'is not an option of this command');
  return { once: given.flag('once'), cluster: given.flag('cluster') };
}

/**
 * Reads the arguments of a command: the settings by their option names, the flags, and its one argument, '' if it has
 * none. Throws a UsageError.
 */
export function readServiceCommand(name: Exclude<keyof typeof SERVICE_COMMANDS, 'demo'>, args: readonly string[]) {
  const command: ServiceCommand = SERVICE_COMMANDS[name];
  const given = readArguments(args, command.options);
  const own = command.argument === undefined ? 0 : 1;
  const [argument = ''] = given.positionals.slice(0, own);
  if (command.argument !== undefined && argument === '') throw new UsageError(command.argument, 'is missing');
  refuseSurplus(given, own, 'is not a setting');
  const settings = Object.fromEntries(Object.keys(SETTING_OPTIONS).map((option) => [option, given.text(option)]));
  return { settings, flag: given.flag, text: given.text, argument };
}
