import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { readCommandLine } from './command-line.ts';
import { EQUIVALENT } from './equivalent.ts';
import { createMutantCopy } from './mutant-copy.ts';
import { OPERATORS } from './operators.ts';
import { allSites, changesOf, choose, isEquivalent, mutated, parseModule, type Site, shown, sitesOf } from './sites.ts';
import { nearestFirst, testsOf } from './tests-of.ts';

/** A module with a place for each operator. */
const SMALL = `
import { log, store } from './store.ts';
type Least = 1 | 2;
export async function most(values: readonly number[], least?: { value: number }): Promise<number> {
  if (values.length === 0) return least?.value ?? 3; // === 7
  const isOpen: boolean = true;
  store(values);
  log.warn({ values: 4 }, 'a text' + 'another one');
  await store(values);
  return isOpen && values[0]! > 5 ? await store(values) : 6_000;
}
export const told = (value: number): void => {
  store([value]);
};
`;
const changed = changesOf(SMALL);
const before = ({ start, end }: { start: number; end: number }): string => SMALL.slice(start, end);

t.test('each operator finds its place, and what it writes can be parsed', async (t) => {
  t.same([...new Set(changed.map(({ operator }) => operator))].sort(), Object.keys(OPERATORS).sort());
  for (const change of changed) {
    const text = mutated(SMALL, change);
    t.not(text, SMALL);
    t.doesNotThrow(() => parseModule(text), `${change.operator}: ${before(change)} -> ${change.after}`);
  }
  const places = changed.map(({ start, end }) => `${start}-${end}`);
  t.equal(new Set(places).size, places.length, 'at most one at each place');
});

t.test('comments, types, log lines and large numbers are left alone', async (t) => {
  const numbers = changed.filter(({ operator }) => operator === 'another number').map(before);
  t.same(numbers.sort(), ['0', '0', '3', '5']);
  t.notOk(changed.some((change) => /^log|text/.test(before(change))));
});

t.test('what is written for the sites of the service can be parsed', async (t) => {
  const root = join(import.meta.dirname, '../..');
  for (const site of choose(allSites(), 3, 300)) {
    const text = readFileSync(join(root, site.file), 'utf8');
    t.doesNotThrow(() => parseModule(mutated(text, site)), shown(site));
  }
});

t.test('a mutant is killed by a test that sees it, and survives one that does not', async (t) => {
  const source = 'export const least = (a: number, b: number): number => (a < b ? a : b);\n';
  const testOf = (values: string): string =>
    `import t from 'tap';\nimport { least } from '../../src/tiny.ts';\nt.equal(least(${values}), 1);\n`;
  const root = t.testdir({
    project: {
      'package.json': '{ "type": "module" }',
      src: { 'tiny.ts': source },
      test: { good: { 'one.test.ts': testOf('2, 1') }, poor: { 'one.test.ts': testOf('1, 1') }, mutants: {} },
    },
  });
  const project = join(root, 'project');
  cpSync(join(import.meta.dirname, '../runs'), join(project, 'test/runs'), { recursive: true });
  cpSync(join(import.meta.dirname, 'run-tests.ts'), join(project, 'test/mutants/run-tests.ts'));
  const copy = createMutantCopy(join(root, 'copy'), project);
  t.equal(await copy.run('good', 60), 'passed');
  const change = changesOf(source).find(({ operator }) => operator === 'negated condition');
  copy.plant('src/tiny.ts', change!);
  t.equal(await copy.run('good', 60), 'failed');
  t.equal(await copy.run('poor', 60), 'passed');
  copy.restore();
  t.equal(await copy.run('good', 60), 'passed');
});

t.test('the same seed chooses the same sites', async (t) => {
  const sites = allSites();
  const chosen = choose(sites, 7, 50);
  t.equal(chosen.length, 50);
  t.same(choose(sites.toReversed(), 7, 50), chosen);
  t.same(choose(sites, 7, 20), chosen.slice(0, 20), 'a larger count goes on behind the smaller one');
  t.notSame(choose(sites, 8, 50), chosen);
  const others = sites.filter(({ file }) => file !== chosen[0]!.file);
  const without = chosen.filter(({ file }) => file !== chosen[0]!.file);
  t.same(choose(others, 7, 50).slice(0, without.length), without, 'another file changes nothing in these');
});

t.test('an equivalent is left out by its texts', async (t) => {
  const site: Site = {
    file: 'src/a.ts',
    line: 3,
    operator: '',
    start: 1,
    end: 2,
    before: 'a\n  < b',
    after: 'a <= b',
    source: 'if (a',
  };
  const one = { file: 'src/a.ts', source: 'if (a', before: 'a < b', after: 'a <= b', reason: 'a is never b' };
  t.ok(isEquivalent(site, [one]));
  for (const other of [{ file: 'src/b.ts' }, { source: 'if (b' }, { before: 'b < a' }, { after: 'a > b' }])
    t.notOk(isEquivalent(site, [{ ...one, ...other }]));
});

t.test('each equivalent is still a site', async (t) => {
  const sites = new Set([...new Set(EQUIVALENT.map(({ file }) => file))].flatMap(sitesOf));
  for (const one of EQUIVALENT)
    t.equal([...sites].filter((site) => isEquivalent(site, [one])).length, 1, `${one.file}: ${one.source}`);
});

t.test('each room has tests', async (t) => {
  for (const file of new Set(allSites().map((site) => site.file))) t.not(testsOf(file).length, 0, file);
  t.same(testsOf('src/edge/admin/sign-in/provider.ts'), ['people']);
  t.same(testsOf('src/core/rollouts/rollout-clearing.ts'), ['removals']);
  t.same(testsOf('src/core/audit/chain.ts'), ['audit', 'flow']);
  t.same(testsOf('src/edge/edges.ts'), ['flow']);
});

t.test('tests whose names are like that of the file run first', async (t) => {
  const tests = ['rollouts/counts.test.ts', 'rollouts/held-commands.test.ts', 'rollouts/a.test.ts'];
  t.same(nearestFirst(tests, 'src/runtime/held-rollouts.ts'), [tests[1], tests[2], tests[0]]);
});

t.test('the command line names the option that is wrong', async (t) => {
  t.match(readCommandLine([]), { do: 'try', seed: 1, count: 20, jobs: 1 });
  t.match(readCommandLine(['--list', '--seed', '42']), { do: 'list', seed: 42 });
  t.throws(() => readCommandLine(['--count', 'many']), /--count: "many" is not a whole number/);
  t.throws(() => readCommandLine(['--other']), /--other/);
});
