import type { Figures } from '@lapel/device-sim/customer/figures';
import { createHistogram } from '@lapel/device-sim/histogram';
import type { Chapter } from '@lapel/device-sim/report/record';
import { judge, readExpectation } from '@lapel/device-sim/scenario/expectation';
import t from 'tap';

function chapter(figures: Partial<Figures>, milliseconds: readonly number[] = []): Chapter {
  const delivered = createHistogram();
  for (const one of milliseconds) delivered.record(one);
  const none = createHistogram().data();
  const latency = { accepted: none, delivered: delivered.data(), answered: none, settled: none };
  return {
    name: 'run',
    spans: [],
    figures: { refused: {}, failures: {}, latency, ...figures } as Figures,
    fleet: { devices: 200, connected: 190, memoryPerDevice: 25_500 },
  };
}

function verdict(text: string, of: Chapter) {
  const read = readExpectation(text, null);
  if (typeof read === 'string') throw new Error(read);
  const { holds, shown } = judge(read, of);
  return `${holds}: ${shown}`;
}

t.test('counts, shares and percentiles are compared in their units', async (t) => {
  const of = chapter({ lost: 0, accepted: 400, succeeded: 398, requests: 500, refused: { 429: 60, 404: 40 } });
  t.equal(verdict('lost == 0', of), 'true: 0');
  t.equal(verdict('lost!=0', of), 'false: 0');
  t.equal(verdict('accepted > 400', of), 'false: 400');
  t.equal(verdict('accepted >= 400', of), 'true: 400');
  t.equal(verdict('succeeded >= 99 %', of), 'true: 99.5 %');
  t.equal(verdict('succeeded >= 99.6%', of), 'false: 99.5 %');
  t.equal(verdict('refused < 10 %', of), 'false: 20 %');
  t.equal(verdict('refused(404) == 40', of), 'true: 40');
  t.equal(verdict('failed(STORAGE_FULL) >= 1', chapter({ failures: { STORAGE_FULL: 2 } })), 'true: 2');
  t.equal(verdict('connected >= 95 %', of), 'true: 95 %');
  t.equal(verdict('memoryPerDevice < 30 kB', of), 'true: 25.5 kB');
});

t.test('percentiles are of the stage in parentheses', async (t) => {
  const of = chapter({}, [...Array.from({ length: 98 }, () => 10), 1500, 3000]);
  t.match(verdict('p50(delivered) < 20 ms', of), /^true: 10/);
  t.match(verdict('p99(delivered) < 2 s', of), /^true: 1\.5\d s/);
  t.match(verdict('p100(delivered) < 2 s', of), 'false: 3 s');
  t.match(verdict('max(delivered) <= 3s', of), 'true: 3 s');
});

t.test('an expectation does not hold if nothing was measured', async (t) => {
  t.equal(verdict('p99(settled) < 2 s', chapter({})), 'false: nothing to measure');
  t.equal(verdict('succeeded >= 0 %', chapter({ accepted: 0, succeeded: 0 })), 'false: nothing to measure');
  t.equal(verdict('lost == 0', { ...chapter({}), figures: null }), 'false: nothing to measure');
});

t.test('an expectation about a group, an action or both sees only their figures', async (t) => {
  const scopes = {
    'group: well': chapter({ accepted: 10, succeeded: 10 }, [10, 20]).figures!,
    'action: setWifi': chapter({ accepted: 4, failures: { INTERNAL: 2 } }).figures!,
    'group: bad, action: setWifi': chapter({ accepted: 4, succeeded: 1 }).figures!,
  };
  const of = { ...chapter({ accepted: 20, succeeded: 11, failures: { INTERNAL: 9 } }, [9000]), scopes };
  t.equal(verdict('succeeded == 100 %', of), 'false: 55 %');
  t.equal(verdict('succeeded(group: well) == 100 %', of), 'true: 100 %');
  t.match(verdict('p99(delivered, group: well) < 1 s', of), /^true: 20/);
  t.equal(verdict('failed(INTERNAL, action: setWifi) == 2', of), 'true: 2');
  t.equal(verdict('succeeded(group: bad, action: setWifi) >= 50 %', of), 'false: 25 %');
  t.equal(verdict('succeeded( action:setWifi , group:bad ) >= 50 %', of), 'false: 25 %', 'in any order');
  t.equal(verdict('lost(group: nobody) == 0', of), 'false: nothing to measure');
});

for (const [text, words] of [
  ['all is well', /must be FIGURE OPERATOR NUMBER/],
  ['lost = 0', /must be FIGURE OPERATOR NUMBER/],
  ['lots == 0', /there is no figure "lots"; did you mean "lost"\? there are lost, doubled/],
  ['p99 < 2 s', /p99 needs a stage: p99\(accepted\), p99\(delivered\)/],
  ['p99(arrived) < 2 s', /needs a stage/],
  ['p99(delivered) < 2', /compared with a time, such as 2 s/],
  ['p99(delivered) < 2 %', /compared with a time/],
  ['forged < 2 %', /forged cannot be compared with a percentage/],
  ['lost < 2 s', /lost is not measured in s/],
  ['lost(404) == 0', /lost takes no parentheses/],
  ['connected(group: well) == 100 %', /connected is not counted by group, action or node/],
  ['forged(group: well) == 0', /forged is not counted by group, action or node/],
  ['lost(group: a, group: b) == 0', /must be a stage, a status, a code or a fault, then "group: NAME"/],
  ['failed(group: a, INTERNAL) == 0', /must be a stage/],
  ['connected >= 120 %', /connected is never above 100 % of devices/],
  ['lost == 1.2.3', /1\.2\.3 is not a number/],
] as const) {
  t.test(`"${text}" is refused with a sentence`, async (t) => t.match(readExpectation(text, null), words));
}

t.test('a figure of the whole run cannot be expected of a phase', async (t) => {
  t.match(readExpectation('memoryPerDevice < 30 kB', 'work'), /is of the whole run/);
});

t.test('a duration that does not hold is not measurable if the simulator stood still or was overloaded', async (t) => {
  const of = (fleet: object, errors = 3) => ({
    ...chapter({ accepted: 10, requests: 10, succeeded: 9, late: 1, errors, lost: 1 }, [10, 3000]),
    spans: [{ from: 0, to: 60_000 }],
    fleet: { ...fleet },
  });
  const still = 'the simulator itself stood still for 3 s';
  t.equal(verdict('p99(delivered) < 2 s', of({ ownStandstill: 3000 })), `false: not measurable (3 s): ${still}`);
  t.equal(verdict('late == 0', of({ ownStandstill: 3000 })), `false: not measurable (1): ${still}`);
  t.equal(verdict('errors == 0', of({ ownStandstill: 3000 })), `false: not measurable (3): ${still}`);
  t.match(verdict('late == 0', of({ ownFull: 45_000 })), /had no processor time left for 45/);
  t.equal(
    verdict('p99(delivered) < 5 s', of({ ownStandstill: 3000 })),
    'true: 3 s',
    'it was fast enough in spite of that',
  );
  t.equal(verdict('lost == 0', of({ ownStandstill: 3000 })), 'false: 1', 'that takes no time');
  t.equal(verdict('p99(delivered) < 2 s', of({ ownStandstill: 200 })), 'false: 3 s');
});

t.test('the books are checked against themselves, and against the plan', async (t) => {
  const books = { accepted: 532, succeeded: 500, failed: 20, cancelled: 4, unfinished: 3, lost: 4, eventsLost: 1 };
  t.equal(verdict('unaccounted == 0', chapter(books)), 'false: 2');
  t.equal(verdict('unaccounted == 0', chapter({ ...books, accepted: 530 })), 'true: 0');
  const of = {
    ...chapter({ violations: 1 }),
    fleet: { violations: 2, planned: 200, made: 199, 'played fails': 3, 'played half-open': 0 },
  };
  t.equal(verdict('violations == 0', of), 'false: 3');
  t.equal(verdict('made >= 99 %', of), 'true: 99.5 %');
  t.equal(verdict('played(half-open) >= 1', of), 'false: 0');
  t.equal(verdict('played >= 1', of), 'true: 3');
});
