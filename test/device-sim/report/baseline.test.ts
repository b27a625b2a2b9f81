import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRandom } from '@lapel/device-sim/random';
import { compare } from '@lapel/device-sim/report/baseline';
import { junitReport } from '@lapel/device-sim/report/junit';
import type { RunRecord } from '@lapel/device-sim/report/record';
import { faultInReport, readReport, reportSchemaText } from '@lapel/device-sim/scenario/read-report';
import t from 'tap';
import { simulateHere } from '../simulate-here.ts';
import { figuresOf, recordOf } from './record-of.ts';

/** A run with `count` latencies around `factor` times ten milliseconds; the seed decides them. */
function runWith(factor: number, seed: number, count = 1000): RunRecord {
  const random = createRandom(seed);
  const milliseconds = Array.from({ length: count }, () => factor * 10 * (0.5 + random() + random()));
  const chapter = { spans: [], fleet: {}, figures: figuresOf({ accepted: count }, milliseconds) };
  return recordOf({ chapters: [{ name: 'run', ...chapter }], verdicts: [] }, 3);
}

t.test('the same latencies with other noise are not slower', async (t) => {
  for (let seed = 2; seed < 30; seed += 1) {
    const verdict = compare(runWith(1, seed), { report: runWith(1, 1), tolerance: 0 });
    t.match(verdict, { holds: true, story: [], shown: '0 of 8 slower, and 0 within the tolerance' }, `seed ${seed}`);
  }
  const faster = compare(runWith(0.5, 2), { report: runWith(1, 1), tolerance: 0 });
  t.match(faster, { holds: true, story: [] });
});

t.test('slower latencies are named, and beyond the tolerance the verdict does not hold', async (t) => {
  const report = runWith(1, 1);
  const within = compare(runWith(1.3, 2), { report, tolerance: 0.5 });
  t.match(within, { text: 'latencies <= 150 % of the baseline', holds: true, value: 0 });
  t.equal(within.shown, '0 of 8 slower, and 8 within the tolerance');
  t.equal(within.story.length, 8);
  const beyond = compare(runWith(2, 2), { report, tolerance: 0.5 });
  t.match(beyond, { holds: false, measurable: true, value: 8, shown: '8 of 8 slower, and 0 within the tolerance' });
  for (const line of beyond.story)
    t.match(line, /^p(50|99)\((accepted|delivered|answered|settled)\) \(run\): .* before, .* now, \d+ % slower$/);
  t.match(junitReport({ ...report, verdicts: [beyond] }), /<failure message="found 8 of 8 slower/);
});

t.test('too few values are not compared, and a slow simulator blames no service', async (t) => {
  const few = compare(runWith(3, 2, 300), { report: runWith(1, 1), tolerance: 0.2 });
  t.match(few, { holds: false, value: 4, shown: '4 of 4 slower, and 0 within the tolerance' }, 'only the medians');
  const none = compare(runWith(3, 2, 5), { report: runWith(1, 1), tolerance: 0.2 });
  t.match(none, { holds: true, shown: '0 of 0 slower, and 0 within the tolerance' });
  const [verdict] = recordOf().verdicts;
  const slow = { ...runWith(3, 2), verdicts: [{ ...verdict!, holds: false, measurable: false }] };
  t.match(compare(slow, { report: runWith(1, 1), tolerance: 0.2 }), { holds: false, measurable: false });
});

t.test('the schema describes each member of a report, and nothing else', async (t) => {
  const report = JSON.parse(JSON.stringify(recordOf())) as Record<string, unknown>;
  t.equal(faultInReport(report), undefined);
  const { required, properties } = JSON.parse(reportSchemaText()) as { required: string[]; properties: object };
  t.strictSame(Object.keys(properties).sort(), Object.keys(report).sort());
  const isAlways = (name: string): boolean => !['rollouts', 'looks'].includes(name); // reports of earlier releases have none
  t.strictSame(Object.keys(properties).filter(isAlways), required);
  t.equal(faultInReport({ ...report, rollouts: undefined, looks: undefined }), undefined);
  for (const name of required) t.match(faultInReport({ ...report, [name]: undefined }), /^it must have required prop/);
  t.equal(faultInReport({ ...report, more: 1 }), 'it must NOT have additional properties: more');
  t.match(faultInReport({ ...report, chapters: [{ name: 'run' }] }), /^\/chapters\/0 must have required property/);
});

t.test('the command line compares, and refuses a report that cannot be compared', async (t) => {
  const shard = { index: 1, of: 1 };
  const folder = t.testdir({
    now: { 'report.json': JSON.stringify({ ...runWith(2, 2), shard }) },
    'before.json': JSON.stringify(runWith(1, 1)),
    'other.json': JSON.stringify({ ...runWith(1, 1), scenario: 'smoke' }),
    'none.json': '{"format":2}',
  });
  const merge = (...more: string[]) => simulateHere(['merge', join(folder, 'now'), ...more]);
  const out = join(folder, 'out');
  const [worse, other] = await Promise.all([
    merge('--baseline', join(folder, 'before.json'), '--report', out),
    merge('--baseline', join(folder, 'other.json')),
  ]);
  t.equal(worse.code, 1);
  t.match(worse.stdout, /NOT OK {2}latencies <= 120 % of the baseline: 8 of 8 slower/);
  t.match(readFileSync(join(out, 'junit.xml'), 'utf8'), /name="latencies &lt;= 120 % of the baseline"/);
  t.equal(other.code, 2);
  t.match(
    other.stderr,
    /^--baseline: .*other\.json is a report of "smoke" with 2000 devices; this run is "bad-release"/,
  );
  t.throws(() => readReport('--baseline', join(folder, 'none.json')), {
    message: /^--baseline: .*none\.json is not a report of this simulator: /,
  });
  t.throws(() => readReport('merge', join(folder, 'missing')), { message: /^merge: .*missing cannot be read: ENOENT/ });
});
