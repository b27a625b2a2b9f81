import { Failure, failureText } from '@lapel/cli/show/failure';
import { jsonText } from '@lapel/cli/show/json-text';
import { lookOf, render } from '@lapel/cli/show/look';
import { oneLine } from '@lapel/cli/show/plain-text';
import { recordText, table } from '@lapel/cli/show/table';
import { createScreen } from '@lapel/cli/show/terminal';
import { cut, widthOf } from '@lapel/cli/show/text-width';
import t from 'tap';

const ESC = '\u001b';

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
  const tight = render(text, lookOf(stream(30), { NO_COLOR: '1' }));
  t.match(
    tight,
    /^ID {5}350000000000014\nSTATE {2}failed\nTEXT {3}日本語.*\n\nID {5}2\nSTATE {2}succeeded\nTEXT {3}👩/u,
  );
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

t.test('invisible characters, and those that turn the direction, are shown escaped', async (t) => {
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

t.test('JSON for a terminal has no character that it would obey, and means the same', async (t) => {
  const value = { name: `a${ESC}[2J\u009b1m\u202eb\u007f` };
  t.match(jsonText(value), /^[ -~]+$/);
  t.same(JSON.parse(jsonText(value, 2)), value);
});
