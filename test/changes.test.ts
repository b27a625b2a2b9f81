import { readdirSync, readFileSync } from 'node:fs';
import { readFragment, withChanges } from '@lapel/tools/scripts/changelog/fragments';
import t from 'tap';

const GOOD = 'Mended: Devices: see [it](docs/qa.md#x); `a. B` counts.\n';

t.test('each file of changes/ has the form that the changelog needs', async (t) => {
  for (const name of readdirSync('changes').filter((one) => one !== 'README.md'))
    t.doesNotThrow(() => readFragment(`changes/${name}`, readFileSync(`changes/${name}`, 'utf8')));
  t.same(readFragment('changes/a-1.md', GOOD), { kind: 'Mended', text: GOOD.slice(8, -1) });
  for (const [path, content, reason] of [
    ['changes/A b.md', GOOD, 'has no name'],
    ['changes/a.md', GOOD.replace('Mended', 'Fixed'), 'does not begin'],
    ['changes/a.md', GOOD.replace('Devices', 'Everybody'), 'does not begin'],
    ['changes/a.md', `${GOOD.trim()} And more.`, 'is not one sentence'],
    ['changes/a.md', GOOD.replace('.\n', ''), 'is not one sentence'],
    ['changes/a.md', GOOD.replace('qa.md', 'none.md'), 'has no link'],
  ] as const)
    t.throws(() => readFragment(path, content), { message: reason }, content);
});

t.test('a release has its changes by kind, after those that are written already', async (t) => {
  const changes = [
    { kind: 'Mended', text: 'three.' },
    { kind: 'New', text: `two${' word'.repeat(25)}.` },
  ];
  const made = (open: string): string => withChanges(`# Log\n\n${open}## 0.1\n\n- old\n`, changes, '0.2 (2026-12-01)');
  const wanted = `- two${' word'.repeat(23)}\n  word word.\n\n### Mended\n\n- three.\n\n## 0.1\n\n- old\n`;
  const head = '# Log\n\n## 0.2 (2026-12-01)\n\n';
  t.equal(made('## Unreleased\n\nabout\n\n### New\n\n- one\n\n'), `${head}about\n\n### New\n\n- one\n${wanted}`);
  t.equal(made(''), `${head}### New\n\n${wanted}`);
});
