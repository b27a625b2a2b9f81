// npm run generate: writes all generated files. npm run generate -- NAME ...: only these. Some run only when they are named,
// and take what follows. With --check it writes nothing, and fails when a file is out of date.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** In their order: the later ones read files of the former. */
const USUAL = ['command', 'types', 'client', 'signature-tool', 'conformance', 'tables'];
/** The tests compare the tables. */
const UNCHECKED = ['tables'];
const NAMED: Readonly<Record<string, string>> = {
  changelog: 'tools/scripts/put-changes.ts',
  pictures: 'tools/scripts/pictures.ts',
  fixture: 'tools/scripts/fixture-schema.ts',
  texts: 'tools/scripts/keep-texts.ts',
};

const args = process.argv.slice(2);
const isCheck = args.includes('--check');
const [first = '', ...rest] = args.filter((word) => word !== '--check');
const isNamed = Object.hasOwn(NAMED, first);
const usual = first === '' ? USUAL : [first, ...rest];
const unknown = isNamed ? undefined : usual.find((name) => !USUAL.includes(name));
if (unknown !== undefined) {
  process.stderr.write(`${unknown} is not generated; known are ${[...USUAL, ...Object.keys(NAMED)].join(', ')}\n`);
  process.exit(2);
}
const files = isNamed
  ? [[NAMED[first]!, ...rest]]
  : usual
      .filter((name) => !isCheck || !UNCHECKED.includes(name))
      .map((name) => [`tools/scripts/generate-${name}.ts`, ...(isCheck ? ['--check'] : [])]);
for (const [file = '', ...options] of files) {
  const command = ['--disable-warning=ExperimentalWarning', join(ROOT, file), ...options];
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', cwd: ROOT });
  if (status !== 0) process.exit(status ?? 1);
}
