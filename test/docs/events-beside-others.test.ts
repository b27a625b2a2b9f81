import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const ROOT = join(import.meta.dirname, '../..');
const PAGE = readFileSync(join(ROOT, 'docs/events-beside-others.md'), 'utf8');

/** The rows of the table under a heading, each with its cells. */
function rowsOf(heading: string): string[][] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [, , ...rows] = (section.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('|'));
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

t.test('each row of the comparison names a test that there is', async (t) => {
  const rows = rowsOf('In sixteen rows');
  t.equal(rows.length, 16);
  for (const [what = '', , shown = ''] of rows) {
    const { path = '', title = '' } =
      /^`(?<path>test\/[\w/-]+\.test\.ts)`: “(?<title>[^”]+)”$/.exec(shown)?.groups ?? {};
    t.ok(path, `${what} names a test`);
    t.ok(readFileSync(join(ROOT, path), 'utf8').includes(`'${title}'`), `${path} has “${title}”`);
  }
});

t.test('what is said of others has a public page, or is said to be unknown', async (t) => {
  for (const [what = '', , , ...peers] of rowsOf('In sixteen rows')) {
    t.equal(peers.length, 6, what);
    for (const cell of peers) t.match(cell, /^not documented$|\]\(https:\/\/[^)]+\)\)$/, what);
  }
  for (const [what = '', , others] of rowsOf('Where others are better')) t.match(others, /\]\(https:\/\//, what);
});
