import type { LapelClient } from '@lapel/client/lapel-client';
import { APPLICATION_OPTIONS, openApplication } from '../account/access.ts';
import { take } from '../account/take.ts';
import type { Command } from '../line/command.ts';
import type { Given } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';
import { oneLine } from '../show/plain-text.ts';
import { recordText, table, timeText } from '../show/table.ts';

const NAME: Options = {
  'display-name': { value: 'TEXT', text: 'display name of the package' },
  'no-display-name': { text: 'remove the display name' },
};
const DESCRIPTION: Options = {
  description: { value: 'TEXT', text: 'description of the version' },
  'no-description': { text: 'remove the description' },
};
const REQUIRES: Options = {
  'requires-firmware': {
    value: 'RANGE',
    text: "firmware that a device must have reported, such as '>=9.2.0'",
  },
};
const VERSION_CHANGES: Options = {
  ...DESCRIPTION,
  'revert-of': { value: 'VERSION', text: 'the version whose devices this one brings back: lapel rollout revert' },
  'no-revert-of': { text: 'the version brings no devices back any more' },
  ...REQUIRES,
  'no-requires-firmware': { text: 'the version can be installed with any firmware' },
};
const PACKAGE = ['PACKAGE'];
const VERSION = ['PACKAGE', 'VERSION'];

/** Reads a text option that may also be cleared (null); undefined when neither is given. */
function textOf(given: Given, name: string): string | null | undefined {
  const text = given.text(name);
  if (!given.flag(`no-${name}`)) return text;
  if (text !== undefined) throw new UsageError(`--no-${name}`, `cannot be combined with --${name}`);
  return null;
}
function textNeeded(given: Given, name: string): string | null {
  const text = textOf(given, name);
  if (text === undefined) throw new UsageError(`--${name}`, `is needed, or --no-${name}`);
  return text;
}
const optional = (field: string, text: string | null | undefined): Record<string, string> =>
  typeof text === 'string' ? { [field]: text } : {};

const requirement = (range: string | null | undefined) =>
  range === undefined ? {} : { requires: range === null ? null : { firmwareVersion: range } };

function required(given: Given): { requires?: { firmwareVersion: string } } {
  const firmwareVersion = given.text('requires-firmware');
  return firmwareVersion === undefined ? {} : { requires: { firmwareVersion } };
}

/** Reads the changes of a version. */
function versionChange(given: Given) {
  const [revertOf, range] = [textOf(given, 'revert-of'), textOf(given, 'requires-firmware')];
  const hasOther = revertOf !== undefined || range !== undefined;
  const description = (hasOther ? textOf : textNeeded)(given, 'description');
  return {
    ...(description !== undefined && { description }),
    ...(revertOf !== undefined && { revertOf }),
    ...requirement(range),
  };
}

/** An operation on packages or versions (ops 12 to 27). */
interface Row {
  name: string;
  summary: string;
  arguments: readonly string[];
  options?: Options;
  example: string;
  /** The text of success for an operation without an answer, in the past tense. */
  done?: string;
  run(lapel: LapelClient, names: { package: string; version: string }, given: Given): Promise<object | undefined>;
}

// biome-ignore format: a table is read by its rows
const ROWS: readonly Row[] = [
  { name: 'package create', summary: 'Registers a package', arguments: PACKAGE, options: { 'display-name': NAME['display-name']! }, example: "com.example.camera --display-name 'Camera'",
    run: (lapel, { package: name }, given) => lapel.registerPackage({ body: { package: name, ...optional('displayName', given.text('display-name')) } }) },
  { name: 'package update', summary: 'Changes or removes the display name of a package', arguments: PACKAGE, options: NAME, example: 'com.example.camera --no-display-name',
    run: (lapel, { package: name }, given) => lapel.updatePackage({ package: name, body: { displayName: textNeeded(given, 'display-name') } }) },
  { name: 'package delete', summary: 'Deletes a package that has no versions', arguments: PACKAGE, example: 'com.example.camera', done: 'deleted',
    run: (lapel, { package: name }) => lapel.removePackage({ package: name }) },
  { name: 'version create', summary: 'Registers a version', arguments: VERSION, options: { description: DESCRIPTION['description']!, ...REQUIRES }, example: "com.example.camera 1.1.0 --description 'steadier picture'",
    run: (lapel, { package: name, version }, given) => lapel.registerVersion({ package: name, body: { version, ...optional('description', given.text('description')), ...required(given) } }) },
  { name: 'version update', summary: 'Changes a version: its description, what it reverts, the firmware that it needs', arguments: VERSION, options: VERSION_CHANGES, example: 'com.example.camera 1.1.1 --revert-of 1.1.0',
    run: (lapel, names, given) => lapel.updateVersion({ ...names, body: versionChange(given) }) },
  { name: 'version delete', summary: 'Deletes a version that has no file and no distribution', arguments: VERSION, example: 'com.example.camera 1.1.0', done: 'deleted',
    run: (lapel, names) => lapel.removeVersion(names) },
  { name: 'version show', summary: 'Shows whether a version has a file, and whether it is distributed', arguments: VERSION, example: 'com.example.camera 1.1.0',
    run: async (lapel, names) => ({ ...(await lapel.readBinary(names)), ...(await lapel.readDistribution(names)) }) },
  { name: 'version signature', summary: 'Shows the signature of a version, and why it does not verify', arguments: VERSION, example: 'com.example.camera 1.1.0',
    run: (lapel, names) => lapel.readSignature(names) },
  { name: 'version remove-signature', summary: 'Removes the signature of a version', arguments: VERSION, example: 'com.example.camera 1.1.0', done: 'signature removed',
    run: (lapel, names) => lapel.removeSignature(names) },
  { name: 'version remove-file', summary: 'Deletes the file of a version', arguments: VERSION, example: 'com.example.camera 1.1.0', done: 'file deleted',
    run: (lapel, names) => lapel.removeBinary(names) },
  { name: 'version distribute', summary: 'Starts the distribution of a version, so that devices can install it', arguments: VERSION, example: 'com.example.camera 1.1.0',
    run: (lapel, names) => lapel.startDistribution(names) },
  { name: 'version stop', summary: 'Stops the distribution of a version; devices that have it keep it', arguments: VERSION, example: 'com.example.camera 1.1.0', done: 'distribution stopped',
    run: (lapel, names) => lapel.stopDistribution(names) },
];

const commandOf = (row: Row): Command => ({
  name: row.name,
  arguments: row.arguments.map((name) => ({ name })),
  summary: row.summary,
  options: { ...row.options, ...APPLICATION_OPTIONS },
  examples: [`lapel ${row.name} ${row.example}`],
  async run(given, terminal) {
    const [name = '', version = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const [noun = '', verb = ''] = row.name.split(' ');
    const what = `${verb.replace('-', ' the ')} ${verb.includes('-') ? 'of ' : ''}${noun} ${given.positionals.join(' ')}`;
    const answer = await application.call(what, (lapel) => row.run(lapel, { package: name, version }, given));
    return {
      json: { ok: true, ...answer },
      text: answer ? recordText(answer) : `${oneLine(`${row.done ?? 'done'}: ${given.positionals.join(' ')}`)}\n`,
    };
  },
});

const packageList: Command = {
  name: 'package list',
  summary: 'Lists the packages of the developer',
  options: APPLICATION_OPTIONS,
  examples: ['lapel package list'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const packages = await application.call('list the packages', (lapel) => take(lapel.each('listPackages', {})));
    const columns = [
      { head: 'PACKAGE', cell: (row: (typeof packages)[number]) => row.package },
      { head: 'UPDATED', cell: (row: (typeof packages)[number]) => timeText(row.updateDate) },
      { head: 'NAME', cell: (row: (typeof packages)[number]) => row.displayName, flexible: true },
    ];
    const none = 'There are none; upload one with lapel app upload FILE.apk';
    return { json: { ok: true, packages, total: packages.length }, text: table(columns, packages, none) };
  },
};

const versionList: Command = {
  name: 'version list',
  arguments: [{ name: 'PACKAGE' }],
  summary: 'Lists the versions of a package, the newest first',
  options: APPLICATION_OPTIONS,
  examples: ['lapel version list com.example.camera'],
  async run(given, terminal) {
    const [name = ''] = given.positionals;
    const application = await openApplication(given, terminal);
    const versions = await application.call('list the versions', (lapel) =>
      take(lapel.each('listVersions', { package: name })),
    );
    const columns = [
      { head: 'VERSION', cell: (row: (typeof versions)[number]) => row.version },
      { head: 'UPDATED', cell: (row: (typeof versions)[number]) => timeText(row.updateDate) },
      { head: 'DESCRIPTION', cell: (row: (typeof versions)[number]) => row.description, flexible: true },
    ];
    return { json: { ok: true, versions, total: versions.length }, text: table(columns, versions, 'There are none.') };
  },
};

const versionWarnings: Command = {
  name: 'version warnings',
  summary: 'Lists versions whose file differs from its registration, or cannot be read as an APK',
  options: APPLICATION_OPTIONS,
  examples: ['lapel version warnings'],
  async run(given, terminal) {
    const application = await openApplication(given, terminal);
    const warnings = await application.call('list the warnings', (lapel) =>
      take(lapel.each('listOwnBinaryWarnings', {})),
    );
    const columns = [
      { head: 'PACKAGE', cell: (row: (typeof warnings)[number]) => row.package },
      { head: 'VERSION', cell: (row: (typeof warnings)[number]) => row.version },
      { head: 'READ', cell: (row: (typeof warnings)[number]) => timeText(row.readAt) },
      { head: 'WARNING', cell: (row: (typeof warnings)[number]) => row.warning, flexible: true },
    ];
    const none = 'There are none: every file that was read matches its version.';
    return { json: { ok: true, warnings, total: warnings.length }, text: table(columns, warnings, none) };
  },
};

const COMMANDS = ROWS.map(commandOf);
export const PACKAGE_COMMANDS: readonly Command[] = [
  packageList,
  ...COMMANDS.filter(({ name }) => name.startsWith('package')),
];
export const VERSION_COMMANDS: readonly Command[] = [
  versionList,
  versionWarnings,
  ...COMMANDS.filter(({ name }) => name.startsWith('version')),
];
