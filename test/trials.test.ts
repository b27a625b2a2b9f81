import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRecorder, PAGE, rowsOf } from '@lapel/tools/scripts/trial/passes';
import { TRIALS } from '@lapel/tools/scripts/trial/trials';
import t from 'tap';

const ROOT = join(import.meta.dirname, '..');

t.test('each trial runs in .ci/run, or has a row with the commit on which it last passed', async (t) => {
  const page = readFileSync(join(ROOT, PAGE), 'utf8');
  const rows = [...page.matchAll(/^\| `(\w+)` \| .* \| (.*) \|$/gm)].map(([, name = '', last = '']) => [name, last]);
  t.same(
    rows.map(([name]) => name),
    Object.keys(TRIALS),
  );
  t.match(readFileSync(join(ROOT, '.ci/run'), 'utf8'), /^npm run check -- --again\nnpm run try -- --ci$/m);
  for (const [name = '', last = ''] of rows)
    t.match(last, TRIALS[name]?.inCi ? /\.ci\/run/ : /^(?:`[0-9a-f]{8}`, \d{4}-\d\d-\d\d|nothing yet)$/, name);
});

t.test('a row is that of a run: other texts are not taken over', async (t) => {
  const lastOf = (page: string): string | undefined => rowsOf(page).find(([name]) => name === '`soak`')?.[2];
  t.equal(lastOf('| `soak` | x | `0123abcd`, 2026-11-28 |'), '`0123abcd`, 2026-11-28');
  for (const last of ['yesterday', '0123abcd, 2026-11-28', '`0123abcd`', '`main`, 2026-11-28'])
    t.equal(lastOf(`| \`soak\` | x | ${last} |`), 'nothing yet', last);
});

t.test('a trial that passes on a checkout without changes is recorded with its commit', async (t) => {
  const root = t.testdir();
  const git = (...args: string[]): string => {
    const who = ['-c', 'user.name=test', '-c', 'user.email=test@localhost', '-c', 'commit.gpgsign=false'];
    return execFileSync('git', [...who, ...args], { cwd: root, encoding: 'utf8' }).trim();
  };
  git('init', '--quiet');
  mkdirSync(join(root, 'docs/contributing'), { recursive: true });
  const table = '| Trial | |\n| `image` | x | nothing yet |\n| `soak` | x | `0123abcd`, 2026-11-01 |\n\nText\n';
  writeFileSync(join(root, PAGE), table);
  git('add', '.');
  git('commit', '--quiet', '--message', 'one');
  const commit = git('rev-parse', '--short=8', 'HEAD');
  const page = (): string => readFileSync(join(root, PAGE), 'utf8');

  t.match(createRecorder(root).record(['image'], '2026-11-28'), `image passed on ${commit}`);
  t.match(page(), `| \`${commit}\`, 2026-11-28 |\n| \`soak\` | `);
  t.match(page(), '| `0123abcd`, 2026-11-01 |\n\nText\n', 'others stay');
  const recorded = page();
  t.match(createRecorder(root).record(['soak'], '2026-11-28'), 'not committed');
  t.equal(page(), recorded);
  git('commit', '--quiet', '--all', '--message', 'two');
  const recorder = createRecorder(root);
  git('commit', '--quiet', '--allow-empty', '--message', 'three');
  t.match(recorder.record(['soak'], '2026-11-28'), 'not committed', 'the trial was of another commit');
  t.equal(page(), recorded);
});
