import { alone, DAY, distinct, timeLabels } from '@lapel/console/base/ticks';
import t from 'tap';

const HOUR = 3600;
const START = Date.parse('2026-11-20T00:00:00Z') / 1000;
const ticks = (step: number): number[] => Array.from({ length: 5 }, (_, index) => START + index * step);

t.test('no two ticks of an axis have the same label', async (t) => {
  for (const [step, isLong] of [
    [10, false],
    [60, false],
    [HOUR, false],
    [12 * HOUR, true],
    [DAY, true],
  ] as const) {
    const labels = timeLabels(ticks(step), step, isLong);
    t.equal(new Set(labels).size, 5, labels.join(' | '));
    t.ok(labels.every(Boolean));
  }
  t.same(distinct(['1.2k', '1.2k', '', '1.3k', '1.2k']), ['1.2k', '', '', '1.3k', '1.2k']);
});

t.test('a value between two gaps is drawn as a point', async (t) => {
  t.same(alone([null, 3, null, 4, 5, null, 6]), [1, 6]);
  t.same(alone([undefined, 1, 2]), []);
});
