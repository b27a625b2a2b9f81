import t from 'tap';
import { compact } from '../../src/edge/pages/compact.ts';
import { joinModules } from '../../src/edge/pages/join-modules.ts';

const join = (modules: Record<string, string>): string =>
  joinModules('main', (path) => {
    const text = modules[path];
    if (text === undefined) throw new Error(`there is no module ${path}`);
    return { text, pathOf: (name) => name.replace('./', '') };
  });
/** Evaluates a module; it may add to the list `told`. */
async function evaluate(script: string): Promise<unknown[]> {
  const global = globalThis as { told?: unknown[] };
  global.told = [];
  await import(`data:text/javascript,${encodeURIComponent(script)}`);
  return global.told;
}

t.test(
  'joined modules are evaluated once, in the order of a browser, with the names that they gave each other',
  async (t) => {
    const modules = {
      main: `const own = 7; told.push('main', One.a, b, again, fallback, late()); await 0; import * as One from './one'; import { a as b } from './two';
      import fallback, { again } from './three'; import './quiet'; function late() { return own }`,
      one: `import { a as two } from './two'; told.push('one'); export const a = two + 1;`,
      two: `told.push('two'); const inner = 1; export { inner as a, f as g }; function f() {}`,
      three: `told.push('three'); export { a as again } from './two'; const found = 'found'; export { found as default };`,
      quiet: `told.push('quiet'); export function $0() {} export class Other {}`,
    };
    t.same(await evaluate(join(modules)), ['two', 'one', 'three', 'quiet', 'main', 2, 1, 1, 'found', 7]);
  },
);

t.test('what cannot be joined truly is refused', async (t) => {
  for (const text of ['export let a = 1', 'export default 1', `export * from './main'`, 'export const { a } = b'])
    t.throws(() => join({ main: `import { a } from './one'`, one: text }), Error, text);
});

t.test('a compact module does the same', async (t) => {
  const text = `/* a licence */
    // a comment with \`quotes\` and 'others'
    const a = 1 // ends a line
    const b = a + +a - -a, c = a ? .5 : 1, d = /[/*]  "/.test('/*  "'), e = \`two  spaces // \${ a  + 1 } and

      lines\`
    const f = () => ({ in: 1, get  of() { return  2 } })
    told.push(a, b, c, d, e, f() /* here */ . of)`;
  const [short, long] = [compact(text, { keepsHead: false }), compact(text, { keepsHead: true })];
  t.same(await evaluate(short), await evaluate(text));
  t.notMatch(short, /licence|comment|ends|here/);
  t.match(long, /^\/\* a licence \*\/[\s\S]*const a=1\n/);
});
