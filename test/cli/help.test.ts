import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ALL_COMMANDS, GROUPS } from '@lapel/cli/commands';
import { groupsOfWord } from '@lapel/cli/groups-of-word';
import { overview } from '@lapel/cli/overview';
import { widthOf } from '@lapel/cli/show/text-width';
import t from 'tap';
import { shellBlocksOf } from '../docs/blocks.ts';
import { commandsOf } from '../docs/shell.ts';
import { checkCall } from './check-call.ts';
import { run } from './run.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => `docs/${name}`)
  .concat('README.md');
/** The calls of lapel in a line of a shell. */
const callsOf = (line: string): string[][] =>
  commandsOf(line)
    .filter(([first]) => first === 'lapel')
    .map((call) => call.slice(1));

t.test('every command has help with an example of its own, and examples are right', async (t) => {
  for (const { name, examples, summary, options } of ALL_COMMANDS) {
    t.ok(
      examples.some((line) => line.includes(`lapel ${name}`)),
      name,
    );
    t.ok(summary.length <= 90, `${name}: a summary is a line`);
    for (const line of examples) for (const call of callsOf(line)) t.equal(checkCall(call), null, line);
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
  for (const line of start) t.equal(checkCall(callsOf(line)[0] ?? []), null, line);
  const calls = PAGES.flatMap(shellBlocksOf).flatMap(({ text }) => callsOf(text));
  t.ok(calls.length >= 60, 'the documents show how it is used');
  for (const call of calls) t.equal(checkCall(call), null, call.join(' '));
});

t.test('a command is found in its own room, and all words of the overview are known', async (t) => {
  for (const group of GROUPS) t.ok((await groupsOfWord(group.name)).includes(group), group.name);
  t.equal(await groupsOfWord('unheard-of'), GROUPS);
  t.equal(await groupsOfWord('constructor'), GROUPS);
});

t.test('an unknown command gets the nearest one as a suggestion, and the help that has all valid ones', async (t) => {
  for (const [line, unknown, meant, help] of [
    ['devcie list', 'devcie', 'device', ''],
    ['device lsit', 'device lsit', 'device list', ' device'],
    ['admin device imprt x', 'admin device imprt', 'admin device import', ' admin device'],
    ['device bluetooth onn', 'device bluetooth onn', 'device bluetooth on', ' device bluetooth'],
    ['xyzzy', 'xyzzy', null, ''],
    ['serv\u001b[2J', 'serv\\u{1b}[2J', null, ''],
    ['serv', 'serv', 'serve', ''],
  ] as const) {
    const hint = meant === null ? '' : `; did you mean "${meant}"?`;
    const stderr = `lapel: unknown command "${unknown}"${hint}\nSee: lapel${help} --help\n`;
    t.same(await run(line.split(' ')), { code: 2, stdout: '', stderr }, line);
    t.match(await run(`${help} --help`.trim().split(' ')), { code: 0, stdout: `lapel${help} ` }, line);
  }
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
