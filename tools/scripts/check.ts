// npm run check: everything that must be green, the tests last. npm run check -- NAME ...: only these steps. With --again a
// test file that fails is run once more, alone.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { areInstalled } from '../bench/peers/install.ts';

const ROOT = join(import.meta.dirname, '../..');
const PROGRAMS = ['src', 'schemas', 'client', 'cli', 'console', 'device', 'device-sim', 'tools', 'test'];
const AGAIN = '--again';
const again = process.argv.includes(AGAIN) ? [AGAIN] : [];
const node = (file: string, ...args: string[]): string[] => [
  process.execPath,
  '--disable-warning=ExperimentalWarning',
  file,
  ...args,
];

const STEPS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  format: [['biome', 'check', '--error-on-warnings', '.']],
  lint: [['oxlint', '--type-aware', '--deny-warnings', ...PROGRAMS]],
  // The peers of the benchmark have libraries of their own, which need not be there.
  types: [['tsc'], ['tsc', '-p', 'console'], ...(areInstalled('most') ? [['tsc', '-p', 'tools/bench/peers']] : [])],
  drift: [node('tools/scripts/generate.ts', '--check')],
  documents: [node('tools/scripts/check-documents.ts')],
  patterns: [node('tools/scripts/check-patterns.ts')],
  unused: [['knip', '--no-progress', '--treat-config-hints-as-errors']],
  english: [node('tools/scripts/check-english.ts')],
  tests: [node('tools/scripts/tell-tests.ts'), node('test/runs/main.ts', '--suite', 'all', ...again)],
};

const given = process.argv.slice(2).filter((name) => name !== AGAIN);
const unknown = given.find((name) => !Object.hasOwn(STEPS, name));
if (unknown !== undefined) {
  process.stderr.write(`${unknown} is no step; the steps are ${Object.keys(STEPS).join(', ')}\n`);
  process.exit(2);
}
for (const name of given.length > 0 ? given : Object.keys(STEPS))
  for (const [program = '', ...args] of STEPS[name]!) {
    const { status } = spawnSync(program, args, { stdio: 'inherit', cwd: ROOT });
    if (status === 0) continue;
    process.stderr.write(`npm run check -- ${name}: failed\n`);
    process.exit(status ?? 1);
  }
