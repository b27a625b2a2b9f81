import { RULES } from '@lapel/device-sim/device-test/rules';
import t from 'tap';
import { CASES, playCase } from './case.ts';

/** Rules of the connection and of files, which the core does not see; tests with a real service hold them. */
const NOT_OF_THE_CORE = [
  'login',
  'keep-alive',
  'signatures',
  'reconnect-pauses',
  'server-certificate',
  'silence',
  'disconnects',
  'reason-codes',
];

t.test('each rule that concerns the core has a case, and each case a rule', async (t) => {
  const named = new Set(CASES.flatMap(({ rules }) => rules));
  t.same(
    [...named].sort(),
    Object.keys(RULES)
      .filter((rule) => !NOT_OF_THE_CORE.includes(rule))
      .sort(),
  );
  t.ok(CASES.length >= 60, `${CASES.length} cases`);
  t.equal(new Set(CASES.map(({ title }) => title)).size, CASES.length, 'each has a title of its own');
  for (const { title, rules } of CASES) t.not(rules.length, 0, title);
});

for (const one of CASES) t.test(one.title, async (t) => playCase(t, one));
