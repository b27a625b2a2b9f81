import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ALL_COMMANDS, GROUPS } from '../../src/clients/cli/commands.ts';
import { checkPositionals, readArguments } from '../../src/clients/cli/line/command-line.ts';
import { readDemoCommand, readServiceCommand, SERVICE_COMMANDS } from '../../src/clients/cli/line/service-commands.ts';
import { overview } from '../../src/clients/cli/overview.ts';
import { widthOf } from '../../src/clients/cli/show/text-width.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];
/** The lines in blocks of shell commands. */
const blocksOf = (page: string): string =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, language = '']) => language === '' || language === 'sh')
    .map(([, , block]) => block)
    .join('');

/** The words of a shell line: with quotes, and only the syntax that examples use. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');

/** The calls of lapel in a line, without pipes and redirections. */
function callsOf(line: string): string[][] {
  const plain = line
    .replace(/^eval "\$\((.*)\)"$/, '$1')
    .replace(/ [<>] ?\S+/g, '')
    .replace(/ +# .*$/, '');
  const words = plain.split(/ \| | && /).map(wordsOf);
  return words.filter(([first]) => first === 'lapel').map((call) => call.slice(1));
}

/** Checks whether the command line accepts a call, as far as this can be checked without a service. */
function check(call: readonly string[]): string | null {
  const [first = '', ...rest] = call;
  if (Object.hasOwn(SERVICE_COMMANDS, first)) {
    const name = first as keyof typeof SERVICE_COMMANDS;
    if (name === 'demo') readDemoCommand(rest);
    else readServiceCommand(name, rest);
    return null;
  }
  if (first === 'version' && rest.length === 0) return null; // the version of Lapel, not those of a package
  const command = ALL_COMMANDS.find(({ name }) => name.split(' ').every((word, index) => call[index] === word));
  if (!command) return 'no command';
  const given = readArguments(call.slice(command.name.split(' ').length), command.options);
  checkPositionals(given.positionals, command.arguments ?? []);
  for (const name of Object.keys(command.options)) {
    if (command.options[name]?.many) given.list(name);
    else given.text(name);
  }
  return null;
}

t.test('every command has help with an example of its own, and examples are right', async (t) => {
  for (const { name, examples, summary, options } of ALL_COMMANDS) {
    t.ok(
      examples.some((line) => line.includes(`lapel ${name}`)),
      name,
    );
    t.ok(summary.length <= 90, `${name}: a summary is a line`);
    for (const line of examples) for (const call of callsOf(line)) t.equal(check(call), null, line);
    for (const [option, { text }] of Object.entries(options)) t.ok(text.length > 5, `${name} --${option}`);
  }
});

t.test('every help text fits 120 columns, and --help prints it without reading the rest', async (t) => {
  for (const { name, options } of ALL_COMMANDS) {
    const { code, stdout } = await run([...name.split(' '), '--nonsense', '--help']);
    t.equal(code, 0);
    for (const option of Object.keys(options)) t.match(stdout, `--${option}`, name);
    t.same(
      stdout.split('\n').filter((line) => widthOf(line) > 120),
      [],
      name,
    );
  }
});

t.test('the overview names every group; its examples and those of the documents are right', async (t) => {
  const { code, stdout } = await run([]);
  t.same([code, stdout], [0, overview()]);
  t.equal((await run(['--help'])).stdout, stdout);
  for (const { name } of [...GROUPS, { name: 'serve' }, { name: 'demo' }]) t.match(stdout, `  lapel ${name} `);
  const lines = [...stdout.matchAll(/^ {2}(lapel .*?)(?: {2,}.*)?$/gm)].map(([, line = '']) => line);
  const start = lines.slice(lines.indexOf('lapel serve', 1));
  for (const line of start) t.equal(check(wordsOf(line).slice(1)), null, line);
  const calls = PAGES.flatMap((page) => blocksOf(page).split('\n')).filter((line) => line.startsWith('lapel '));
  t.ok(calls.length >= 20, 'the documents show how it is used');
  for (const line of calls) for (const call of callsOf(line)) t.equal(check(call), null, line);
});

t.test('an unknown command gets the nearest one as a suggestion, and all valid ones', async (t) => {
  const cases: [string, RegExp][] = [
    ['devcie list', /^lapel: unknown command "devcie"; did you mean "device"\?\n\nLapel: /],
    ['device lsit', /^lapel: unknown command "device lsit"; did you mean "device list"\?\n\nDevices of an application/],
    ['admin device imprt x', /"admin device imprt"; did you mean "admin device import"\?/],
    ['device bluetooth onn', /"device bluetooth onn"; did you mean "device bluetooth on"\?/],
    ['xyzzy', /^lapel: unknown command "xyzzy"\n\nLapel: /],
    ['serv', /did you mean "serve"\?/],
  ];
  for (const [line, words] of cases) t.match(await run(line.split(' ')), { code: 2, stdout: '', stderr: words }, line);
  t.match(await run(['admin', 'device']), { code: 2, stderr: /lapel admin device import FILE/ });
  t.match(await run(['help']), { code: 0, stdout: /^Lapel: / });
  t.match(await run(['help', 'device', 'wifi']), { code: 0, stdout: /\n {2}lapel device wifi DEVICE \[options\]\n/ });
  t.match(await run(['help', 'serve']), { code: 0, stdout: /^Settings of lapel serve/ });
  t.match(await run(['help', 'doctor']), { code: 0, stdout: /lapel doctor --check-database/ });
  t.match(await run(['help', 'settings']), { code: 0, stdout: /^Webhook URLs of an application/ });
  const sub = await run(['admin', 'developer', '--help']);
  t.match(sub, { code: 0, stdout: /lapel admin developer update/ });
  t.notMatch(sub.stdout, /lapel admin device/);
});
