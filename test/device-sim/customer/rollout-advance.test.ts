import { wrongStages } from '@lapel/device-sim/customer/rollout-advance';
import t from 'tap';

const NONE = {
  waiting: 0,
  unfinished: 0,
  confirming: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  unchanged: 0,
  refused: 0,
};
const DEVICE = '352900130000016';
const time = (seconds: number): string => new Date(1_800_000_000_000 + seconds * 1000).toISOString();
const entry = (seconds: number, event: string, stage: number) => ({
  at: time(seconds),
  event,
  stage,
  by: 'service',
  reason: null,
});

/** The breaches of a rollout of two stages, whose first has these rules and ten devices. The second begins after 10 s. */
function breaches(
  rules: object,
  { history = [] as object[], approved = [] as number[], counts = {}, of = 10 } = {},
): readonly string[] {
  const all = [entry(10, 'stageStarted', 2), ...history, entry(0, 'stageStarted', 1)];
  const rollout = { history: all, stages: [{ planned: of }, { planned: 10 }] };
  const began = { type: 'rollout.stageStarted', stage: 2, reason: null, by: 'service', counts: { ...NONE, ...counts } };
  const found = wrongStages(
    { rollout, devices: [{ deviceId: DEVICE, stage: 2, transactionId: 7 }], transactions: [] } as never,
    {
      plan: { body: { stages: [rules] } },
      events: [began],
      approved: new Set(approved),
      transactions: new Map(),
      devicesStay: true,
    } as never,
  );
  for (const { deviceId } of found) t.equal(deviceId, DEVICE);
  return found.map(({ text }) => text);
}

const good = { counts: { succeeded: 10 } };

t.test('a stage begins after its soak', async (t) => {
  t.strictSame(breaches({ continueWhen: { succeededPercent: 90, soakFor: 10 } }, good), []);
  t.strictSame(breaches({ continueWhen: { succeededPercent: 90, soakFor: 11 } }, good), [
    'stage 2 began 10.0 s after stage 1, whose soak is 11 s',
  ]);
});

t.test('a stage begins after the approval of the one before', async (t) => {
  const rules = { approval: true };
  const history = [entry(5, 'approved', 1)];
  t.strictSame(breaches(rules, { ...good, history, approved: [1] }), []);
  t.strictSame(breaches(rules, { ...good, history: [entry(9_000_000, 'approved', 1)], approved: [1] }), []);
  const wanted = ['stage 2 began, and nobody had approved stage 1'];
  t.strictSame(breaches(rules, good), wanted);
  t.strictSame(breaches(rules, { ...good, history }), wanted, 'the customer has approved nothing');
  t.strictSame(breaches(rules, { ...good, approved: [1] }), wanted, 'the approval came later');
  const paused = (reason: string): object => ({ ...entry(4, 'paused', 1), reason });
  const resumed = entry(5, 'resumed', 1);
  t.strictSame(breaches(rules, { ...good, history: [resumed, paused('STAGE_FAILED')] }), [], 'a resume lets it pass');
  t.strictSame(breaches(rules, { ...good, history: [resumed, paused('REQUESTED')] }), wanted);
});

t.test('a stage begins after the one before had its share of successes', async (t) => {
  const rules = { continueWhen: { succeededPercent: 80 } };
  t.strictSame(breaches(rules, { counts: { succeeded: 8, failed: 2 } }), []);
  t.strictSame(breaches(rules, { counts: { succeeded: 7, unchanged: 1, failed: 2 } }), [
    'stage 2 began when 7 of 9 devices of stage 1 had succeeded, and 80 % of them must have succeeded',
  ]);
  t.strictSame(
    breaches(rules, { counts: { succeeded: 6, refused: 2, cancelled: 1 } }),
    [],
    'refused devices do not count',
  );
  t.strictSame(breaches(rules, { counts: { succeeded: 7, failed: 2 } }), [
    'stage 2 began when 7 of 10 devices of stage 1 had succeeded, and 80 % of them must have succeeded',
  ]);
  t.strictSame(breaches({}, { counts: { succeeded: 9 } }), [
    'stage 2 began when 9 of 10 devices of stage 1 had succeeded, and 95 % of them must have succeeded',
  ]);
  t.strictSame(breaches(rules, { counts: { refused: 9, unchanged: 1 } }), [
    'stage 2 began when no device of stage 1 had succeeded',
  ]);
  t.strictSame(breaches(rules, { counts: { unchanged: 10 } }), [], 'all have the version, so it has nothing to prove');
  t.strictSame(breaches(rules, { history: [entry(5, 'resumed', 1)] }), [], 'somebody let it pass');
});

t.test('a stage begins after the one before had enough results', async (t) => {
  const rules = { continueWhen: { succeededPercent: 0, minimumResults: 8 } };
  t.strictSame(breaches(rules, { counts: { succeeded: 5, failed: 3 } }), []);
  t.strictSame(breaches(rules, { counts: { succeeded: 5, failed: 2 } }), [
    'stage 2 began after 7 results of stage 1, which needs 8',
  ]);
  t.strictSame(breaches(rules, { counts: { succeeded: 4, unchanged: 6 } }), [], 'no more devices had something to do');
});
