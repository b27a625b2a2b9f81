import { percentile } from '@lapel/device-sim/histogram';
import type { RunRecord } from '@lapel/device-sim/report/record';
import { mergeRecords } from '@lapel/device-sim/scenario/merge-records';
import t from 'tap';
import { figuresOf, recordOf } from '../report/record-of.ts';

/** One of two shards: 100 devices, and calls of which some were lost. */
function shard(index: number, { lost = 0, at = '2026-11-22T06:05:00.000Z', ms = [10] } = {}): RunRecord {
  const fleet = { devices: 100, connected: 99, connectRate: 50, memoryPerDevice: 10_000 * index };
  const chapter = (name: string, from: number, to: number) => ({
    name,
    spans: [{ from, to }],
    figures: figuresOf({ requests: 10, accepted: 10, succeeded: 10 - lost, lost, refused: { 404: index } }, ms),
    fleet,
  });
  const sample = {
    accepted: 5,
    settled: 4,
    unfinished: 1,
    errors: 0,
    delivered: null,
    settledAfter: null,
    loopDelay: 1,
    processor: 0.1,
    behind: 1,
  };
  return recordOf({
    shard: { index, of: 2 },
    startedAt: at,
    milliseconds: 5000,
    chapters: [chapter('run', 0, 5000), chapter('storm', 1000, 4000)],
    samples: [1000, 2000, 3000].map((time) => ({
      ...sample,
      at: time,
      connected: time / 100,
      delivered: { p50: index, p99: 10 * index },
    })),
    faults: { 'half-open': index },
    memory: { before: 100, connected: 200, end: 300 },
    verdicts: [
      {
        text: 'lost == 0',
        phase: null,
        holds: lost === 0,
        measurable: true,
        value: lost,
        shown: '',
        story: lost ? ['of a device'] : [],
      },
      { text: 'succeeded >= 90 %', phase: 'storm', holds: false, measurable: true, value: 0, shown: '', story: [] },
    ],
    troubles: [`trouble of ${index}`],
    troublesNotShown: 1,
  });
}

t.test('the records of two processes are added up to one, on one clock', async (t) => {
  const second = shard(2, { lost: 1, at: '2026-11-22T06:05:01.500Z', ms: [100, 100, 100] });
  const merged = mergeRecords([second, shard(1)]);
  const [whole, storm] = merged.chapters;
  t.match(merged, {
    shard: null,
    startedAt: '2026-11-22T06:05:00.000Z',
    milliseconds: 6500,
    faults: { 'half-open': 3 },
  });
  t.match(whole?.figures, { requests: 20, accepted: 20, lost: 1, refused: { 404: 3 } });
  t.equal(whole?.figures?.latency.delivered.count, 4);
  t.ok(percentile(whole!.figures!.latency.delivered, 0.5) > 90, 'percentiles are those of all that was counted');
  t.match(whole?.fleet, { devices: 200, connected: 198, connectRate: 100, memoryPerDevice: 15_000 });
  t.strictSame(storm?.spans, [{ from: 1000, to: 5500 }]);
  t.match(merged.memory, { before: 200, connected: 400, end: 600 });
  t.strictSame(merged.troubles, ['trouble of 1', 'trouble of 2']);
  t.equal(merged.troublesNotShown, 2);
  t.strictSame(
    merged.samples.map(({ at, connected, delivered }) => [at, connected, delivered]),
    [
      [1000, 10, { p50: 1, p99: 10 }],
      [2000, 20, { p50: 1, p99: 10 }],
      [3000, 40, { p50: 2, p99: 20 }],
    ],
  );
});

t.test('an expectation is judged for the whole run, with the story of the part that has one', async (t) => {
  const { verdicts } = mergeRecords([shard(1), shard(2, { lost: 1 })]);
  t.match(verdicts, [
    { text: 'lost == 0', holds: false, measurable: true, value: 1, story: ['of a device'] },
    { text: 'succeeded >= 90 %', phase: 'storm', holds: true, measurable: true, value: 95 },
  ]);
});

t.test('records that are not all parts of one run are refused with a sentence', async (t) => {
  const two = shard(2);
  t.throws(() => mergeRecords([]), { message: /needs at least one report/ });
  t.throws(() => mergeRecords([two]), { message: /shard 1 of 2 is missing/ });
  t.throws(() => mergeRecords([shard(1), two, two]), { message: /shard 2 of 2 is given twice/ });
  t.throws(() => mergeRecords([shard(1), { ...two, seed: 8 }]), { message: /seed 8\) is not run/ });
  t.throws(() => mergeRecords([shard(1), { ...two, shard: { index: 2, of: 3 } }]), {
    message: /different numbers of shards/,
  });
});
