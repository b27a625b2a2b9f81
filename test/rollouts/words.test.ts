import type { Verdict } from '@lapel/schemas/base/rollout-verdict';
import t from 'tap';
import type { Finding } from '../../src/core/rollouts/health/judgement.ts';
import { type Word, wordOf } from '../../src/core/rollouts/health/words.ts';
import type { HealthRule } from '../../src/core/rollouts/rollout.ts';
import { changesSince, stepOf, tagOf } from '../../src/core/rollouts/verdict.ts';

const group = (devices: number, value: number | undefined) => Array.from({ length: devices }, () => value);
const word = (
  ours: readonly (number | undefined)[],
  theirs: readonly (number | undefined)[],
  { rule, fires = false, before }: { rule?: HealthRule; fires?: boolean; before?: Word } = {},
): Word => {
  const rules = rule ? [rule] : [];
  const findings = rules.map(() => ({ fires }) as Finding);
  return wordOf({ measure: 'reconnects', rules, findings, before, ruled: () => ours }, ours, theirs);
};

t.test('a measure is unknown until enough devices are known, and there is something to compare with', async (t) => {
  t.equal(word(group(9, undefined), group(9, 1)), 'unknown');
  t.equal(word(group(4, 1), group(9, 1)), 'unknown', 'four devices prove nothing without a rule');
  t.equal(word(group(9, 1), group(2, 1)), 'unknown');
  const rule = { measure: 'reconnects', atMost: 5, minimumDevices: 20 } as const;
  t.equal(word(group(3, 1), [], { rule }), 'good', 'all that have the release are known');
  t.equal(word([...group(3, 1), undefined], [], { rule }), 'unknown');
});

t.test('a measure is worse only if chance hardly explains it, and stays so until chance may', async (t) => {
  const some = (bad: number) => [...group(bad, 9), ...group(10 - bad, 0)];
  t.equal(word(some(9), some(1)), 'worse');
  t.equal(word(some(1), some(9)), 'good', 'better is good');
  const between = [some(6), some(1)] as const;
  t.equal(word(...between), 'good');
  t.equal(word(...between, { before: 'worse' }), 'worse');
  t.equal(word(some(3), some(2), { before: 'worse' }), 'good');
});

t.test('a rule that is near its limit says worse, and one that is exceeded broken', async (t) => {
  const rule = { measure: 'reconnects', atMost: 4, minimumDevices: 5 } as const;
  t.equal(word(group(5, 2.9), [], { rule }), 'good');
  t.equal(word(group(5, 3.1), [], { rule }), 'worse');
  t.equal(word(group(5, 2.9), [], { rule, before: 'worse' }), 'worse');
  t.equal(word(group(5, 1.9), [], { rule, before: 'worse' }), 'good');
  t.equal(word(group(5, 5), [], { rule, fires: true }), 'broken');
});

t.test('each of several rules about a measure is near its limit by its own values', async (t) => {
  const often = { measure: 'events', types: ['custom.start'], atMost: 40, minimumDevices: 5 } as const;
  const rare = { measure: 'events', types: ['custom.crash'], atMost: 1, minimumDevices: 5 } as const;
  const wordWhen = (crashes: number): Word => {
    const findings = [often, rare].map(() => ({ fires: false }) as Finding);
    const ruled = (rule: HealthRule) => group(5, rule.types?.includes('custom.crash') ? crashes : 10);
    return wordOf({ measure: 'events', rules: [often, rare], findings, before: undefined, ruled }, ruled(often), []);
  };
  t.equal(wordWhen(0.1), 'good');
  t.equal(wordWhen(0.9), 'worse');
});

t.test('numbers are rounded down to steps', async (t) => {
  t.same(
    [0, 1, 2, 4, 5, 9, 10, 19, 20, 49, 50, 99, 100, 70_000].map(stepOf),
    [0, 1, 2, 2, 5, 5, 10, 10, 20, 20, 50, 50, 100, 50_000],
  );
});

t.test('more successes, and more devices that were seen, are no change that somebody must look at', async (t) => {
  const verdict = { succeeded: 2, failed: 0, codes: [], failedBefore: 0, seen: 0, silent: 0, fired: [], paused: null };
  const measures = { silent: 'good', reconnects: 'unknown' } as Verdict['measures'];
  const seen = tagOf(0, { ...verdict, measures });
  const since = (more: Partial<Verdict>) => changesSince(seen, 0, { ...verdict, measures, ...more });
  t.equal(since({ succeeded: 50_000, seen: 20 }), '');
  t.equal(since({ succeeded: 1 }), 'succeeded: now 1', 'fewer are');
  t.equal(since({ silent: 1 }), 'silent devices: now 1 (good)');
  t.equal(since({ measures: { ...measures, reconnects: 'worse' } }), 'reconnects: now worse');
});
