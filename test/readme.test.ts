import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { optionName, SETTINGS } from '../src/config.ts';
import { ERRORS } from '../src/errors.ts';
import { nextStatus, TRANSACTION_STATUSES, type TransactionEvent } from '../src/transactions/transaction.ts';

const ROOT = join(import.meta.dirname, '..');
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** The body rows of the table between two marks. */
function rows(mark: string): string[][] {
  const text = readme.split(`<!-- ${mark} -->`)[1]?.split(`<!-- /${mark} -->`)[0] ?? '';
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

t.test('the table of settings is the code’s', async (t) => {
  const expected = SETTINGS.map(({ name, fallback, description }) => [
    `\`${name}\``,
    `\`--${optionName(name)}\``,
    fallback === null ? '' : `\`${fallback}\``,
    description,
  ]);
  t.same(rows('settings'), expected);
});

t.test('the table of errors is the code’s', async (t) => {
  const expected = Object.entries(ERRORS).map(([code, { status, text, when }]) => [
    `\`${code}\``,
    String(status),
    `\`${text}\``,
    when,
  ]);
  t.same(rows('errors'), expected);
});

t.test('the table of states is the state machine’s', async (t) => {
  const events = TRANSACTION_STATUSES.filter((status) => status !== 'queued') as TransactionEvent[];
  const expected = TRANSACTION_STATUSES.map((status) => [
    `\`${status}\``,
    events
      .filter((event) => nextStatus(status, event))
      .map((event) => `\`${event}\``)
      .join(', '),
  ]);
  t.same(
    rows('states').map(([state, , next]) => [state, next]),
    expected,
  );
});

t.test('the tree has a line for every room, and every line is there', async (t) => {
  const tree = readme.split('## The tree')[1] ?? '';
  for (const entry of readdirSync(join(ROOT, 'src'), { withFileTypes: true })) {
    t.ok(tree.includes(entry.isDirectory() ? `src/${entry.name}/` : `src/${entry.name}`), entry.name);
  }
  for (const [, path = ''] of tree.matchAll(/^([a-z-]+\/[a-z/.-]*)/gm)) t.ok(existsSync(join(ROOT, path)), path);
});

t.test('every npm script that the README or another script names exists', async (t) => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  const texts = [readme, ...Object.values(scripts)].join('\n');
  for (const [, name = ''] of texts.matchAll(/npm run ([a-z]+(?::[a-z]+)*)/g)) t.ok(scripts[name], name);
});
