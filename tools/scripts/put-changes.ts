// npm run generate -- changelog: puts the files of changes/ into CHANGELOG.md, under the version of package.json and the
// date of today, and removes them.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type Fragment, readFragment, withChanges } from './changelog/fragments.ts';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
const paths = readdirSync('changes')
  .filter((name) => name !== 'README.md')
  .sort()
  .map((name) => `changes/${name}`);
const changes = paths.map((path): Fragment => readFragment(path, readFileSync(path, 'utf8')));
const heading = `${version} (${new Date().toISOString().slice(0, 10)})`;
writeFileSync('CHANGELOG.md', withChanges(readFileSync('CHANGELOG.md', 'utf8'), changes, heading));
for (const path of paths) rmSync(path);
process.stdout.write(`${changes.length} changes are in CHANGELOG.md under ${heading}\n`);
