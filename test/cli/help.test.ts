import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ALL_COMMANDS, GROUPS } from '../../src/cli/commands.ts';
import { checkPositionals, readArguments } from '../../src/cli/line/command-line.ts';
import { overview } from '../../src/cli/overview.ts';
import { Failure, failureText } from '../../src/cli/show/failure.ts';
import { lookOf, render } from '../../src/cli/show/look.ts';
import { oneLine } from '../../src/cli/show/plain-text.ts';
import { recordText, table } from '../../src/cli/show/table.ts';
import { createScreen } from '../../src/cli/show/terminal.ts';
import { cut, widthOf } from '../../src/cli/show/text-width.ts';
import { run } from './run.ts';

const ESC = '\u001b';
const ROOT = join(import.meta.dirname, '../..');
const PAGES = ['README.md', ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`)];
/** What is in blocks of shell commands. */
const blocksOf = (page: string): string =>
  [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```(\w*)\n(.*?)^```$/gms)]
    .filter(([, language = '']) => language === '' || language === 'sh')
    .map(([, , block]) => block)
    .join('');

/** The words of a shell line: quotes, and no more of the shell than examples have. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? '');

/** The calls of lapel in a line: what is piped or redirected is not theirs. */
function callsOf(line: string): string[][] {
  const plain = line.replace(/^eval "\$\((.*)\)"$/, '$1').replace(/ [<>] ?\S+/g, '');
  const words = plain.split(/ \| | && /).map(wordsOf);
  return words.filter(([first]) => first === 'lapel').map((call) => call.slice(1));
}

/** Whether a call is one that the command line takes, as far as that can be told without a service. */
function check(call: readonly string[]): string | null {
  if (call[0] === 'serve') return null;
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
  for (const { name } of [...GROUPS, { name: 'serve' }]) t.match(stdout, `  lapel ${name} `);
  const lines = [...stdout.matchAll(/^ {2}(lapel .*?)(?: {2,}.*)?$/gm)].map(([, line = '']) => line);
  const start = lines.slice(lines.indexOf('lapel serve', 1));
  for (const line of start) t.equal(check(wordsOf(line).slice(1)), null, line);
  const calls = PAGES.flatMap((page) => blocksOf(page).split('\n')).filter((line) => line.startsWith('lapel '));
  t.ok(calls.length >= 20, 'the documents show how it is used');
  for (const line of calls) for (const call of callsOf(line)) t.equal(check(call), null, line);
});

t.test('an unknown command is told the nearest one, and what there is', async (t) => {
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
  t.match(await run(['help', 'settings']), { code: 0, stdout: /^Where the webhooks of an application go/ });
  const sub = await run(['admin', 'developer', '--help']);
  t.match(sub, { code: 0, stdout: /lapel admin developer update/ });
  t.notMatch(sub.stdout, /lapel admin device/);
});

t.test('tables fit the terminal; wide characters are not broken; colours are for terminals', async (t) => {
  const rows = [
    { id: '350000000000014', text: '日本語のとても長い説明'.repeat(8), state: 'failed' },
    { id: '2', text: '👩‍👩‍👧 family\nof three', state: 'succeeded' },
  ];
  const text = table<(typeof rows)[number]>(
    [
      { head: 'ID', cell: ({ id }) => id },
      { head: 'STATE', cell: ({ state }) => state, state: true },
      { head: 'TEXT', cell: (row) => row.text, flexible: true },
    ],
    rows,
    'none',
  );
  const stream = (columns: number, isTTY = true) => ({ write: () => {}, columns, isTTY });
  const narrow = render(text, lookOf(stream(50), { NO_COLOR: '1' }));
  for (const line of narrow.trim().split('\n')) t.ok(widthOf(line) <= 50, line);
  t.match(narrow, /350000000000014 {2}failed {5}日本語のとても.*…\n2 +succeeded {2}👩‍👩‍👧 family of three\n/u);
  const places = ['TEXT', '日', '👩'].map((mark, index) => {
    const line = narrow.split('\n')[index] ?? '';
    return widthOf(line.slice(0, line.indexOf(mark)));
  });
  t.equal(new Set(places).size, 1, 'columns begin at the same place');
  const piped = render(text, lookOf(stream(20, false), {}));
  t.notOk(piped.includes('…') || piped.includes(ESC), 'a pipe gets all of it, plain');
  t.ok(render(text, lookOf(stream(100), {})).includes(`${ESC}[31mfailed`));
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }] as Record<string, string>[])
    t.notOk(render(text, lookOf(stream(100), env)).includes(ESC));
  t.match(
    render(recordText({ status: 'failed', a: null }), lookOf(stream(100), {})),
    /^\S+status\S+ {2}\S+failed\S+\n$/,
  );
  t.same(
    ['日本語', '日本', 'abc', 'ab'].map((one) => cut(one, 4)),
    ['日…', '日本', 'abc', 'ab'],
  );
  let written = '';
  const screen = createScreen({ write: (piece: string) => (written += piece), isTTY: true, columns: 10, rows: 5 });
  screen.show(['日本語日本語日本語']);
  t.equal(written, '日本語日…\n');
});

t.test('what nobody sees, and what turns the direction, is shown escaped', async (t) => {
  const rows: [text: string, shown: string][] = [
    ['name\u202egpj.exe', String.raw`name\u{202e}gpj.exe`],
    ['a\u2066b\u2069', String.raw`a\u{2066}b\u{2069}`],
    ['ad\u200dmin', String.raw`ad\u{200d}min`],
    ['zero\u200bwidth\ufeff', String.raw`zero\u{200b}width\u{feff}`],
    ['soft\u00adhyphen \u3164', String.raw`soft\u{ad}hyphen \u{3164}`],
    ['two\nlines\tand\u2028three', String.raw`two lines and\u{2028}three`],
    [`${ESC}[2Jgone`, String.raw`\u{1b}[2Jgone`],
    ['👩\u200d🚀 ❤️ 日本語 नमस्\u200dते می\u200cخواهم', '👩\u200d🚀 ❤️ 日本語 नमस्\u200dते می\u200cخواهم'],
  ];
  for (const [text, shown] of rows) {
    t.equal(oneLine(text), shown);
    const look = { width: null, paint: (_: unknown, painted: string) => painted };
    t.ok(table([{ head: 'name', cell: () => text }], [{}], 'none')(look).includes(shown), 'in a table');
    t.ok(recordText({ name: text })(look).includes(shown), 'in a record');
    t.ok(failureText(new Failure(text)).includes(shown), 'in an error');
  }
});

t.test('bash completes commands, options and their values', async (t) => {
  const folder = t.testdir({ 'devices.csv': '' });
  const { code, stdout } = await run(['completion', 'bash']);
  t.equal(code, 0);
  const lines = [
    ['', /^serve doctor login .*device.*completion$/],
    ['serve --http-p', /^--http-port$/],
    ['doctor --check', /^--check-database$/],
    ['dev', /^device$/],
    ['device b', /^bluetooth$/],
    ['device bluetooth ', /^state on off list pair$/],
    ['admin device im', /^import$/],
    ['admin device import --dev', /^--developer$/],
    ['admin device import --format ', /^ndjson csv$/],
    ['admin device import dev', /^devices\.csv$/],
    ['admin device import devices.csv --output dev', /^devices\.csv$/],
    ['device transactions --application device 12 --status f', /^failed$/],
    ['webhook test c', /^callEvent callFileSendEvent$/],
    ['completion ', /^bash zsh$/],
    ['device show 1 --nothing ', /^$/],
  ] as const;
  const script = `${stdout}
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _lapel; echo "\${COMPREPLY[*]}"; }
${lines.map(([line]) => `try lapel ${line.replace(/(^| )$/, "$1''")}`).join('\n')}\n`;
  writeFileSync(join(folder, 'try.bash'), script);
  const bash = spawnSync('bash', ['--norc', 'try.bash'], { cwd: folder, encoding: 'utf8' });
  t.same([bash.stderr, bash.status], ['', 0]);
  const answers = bash.stdout.split('\n');
  for (const [index, [line, words]] of lines.entries()) t.match(answers[index], words, line);
});

t.test(
  'zsh takes its completion',
  { skip: spawnSync('zsh', ['--version']).status === 0 ? false : 'no zsh' },
  async (t) => {
    const { stdout } = await run(['completion', 'zsh']);
    t.same(spawnSync('zsh', ['-n'], { input: stdout, encoding: 'utf8' }).stderr, '');
  },
);
