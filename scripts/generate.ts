// npm run generate: writes all generated files. npm run generate -- NAME ...: only these; some run only when they are named.
// With --check it writes nothing, and fails when a file is out of date.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** In their order: the later ones read files of the former. */
const USUAL = ['command', 'types', 'client', 'signature-tool', 'conformance', 'tables'];
/** The tests compare the tables. */
const UNCHECKED = ['tables'];
const NAMED: Readonly<Record<string, string>> = {
  pictures: 'scripts/pictures.ts',
  fixture: 'scripts/fixture-schema.ts',
  texts: 'scripts/keep-texts.ts',
};

const args = process.argv.slice(2);
const isCheck = args.includes('--check');
const named = args.filter((name) => name !== '--check');
const unknown = named.find((name) => !USUAL.includes(name) && !Object.hasOwn(NAMED, name));
if (unknown !== undefined) {
  process.stderr.write(`${unknown} is not generated; known are ${[...USUAL, ...Object.keys(NAMED)].join(', ')}\n`);
  process.exit(2);
}
const usual = isCheck ? USUAL.filter((name) => !UNCHECKED.includes(name)) : USUAL;
for (const name of named.length > 0 ? named : usual) {
  const file = join(ROOT, NAMED[name] ?? `scripts/generate-${name}.ts`);
  const command = ['--disable-warning=ExperimentalWarning', file, ...(isCheck ? ['--check'] : [])];
  const { status } = spawnSync(process.execPath, command, { stdio: 'inherit', cwd: ROOT });
  if (status !== 0) process.exit(status ?? 1);
}
