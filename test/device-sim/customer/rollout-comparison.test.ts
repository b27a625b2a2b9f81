import { type Entry, newEntry } from '@lapel/device-sim/customer/entry';
import { rolloutDifferences } from '@lapel/device-sim/customer/rollout-comparison';
import { membersOf } from '@lapel/device-sim/customer/rollout-members';
import type { KnownRollout, RolloutSnapshot } from '@lapel/device-sim/customer/rollout-snapshot';
import { overshootOf, sparedBy } from '@lapel/device-sim/customer/rollout-stops';
import { isOpenIn, windowFrom } from '@lapel/device-sim/customer/rollout-window';
import t from 'tap';

const ID = 'rol_00000000000000000000000000000001';
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
type Row = RolloutSnapshot['devices'][number];
type State = Row['state'];

/** The id of the n-th device; its transaction is number n. */
const device = (n: number): string => `35290013000000${n}`;
const time = (seconds: number): string => new Date(1_800_000_000_000 + seconds * 1000).toISOString();

/** A rollout with a device in each of these states, as the service shows it. */
function lookOf(states: readonly State[], { state = 'completed', history = [] as object[] } = {}): RolloutSnapshot {
  const devices = states.map((one, index): Row => {
    const hasCommand = !['waiting', 'unchanged', 'refused'].includes(one);
    const n = index + 1;
    return {
      deviceId: device(n),
      stage: 1,
      state: one,
      status: hasCommand ? one : null,
      transactionId: hasCommand ? n : null,
      attempts: hasCommand ? 1 : 0,
      code: one === 'failed' ? 'INTERNAL' : null,
      updatedAt: time(9),
    };
  });
  const counts = { ...NONE };
  for (const one of states) counts[one] += 1;
  const stage = { planned: states.length, state: 'over', counts, continueWhen: null, approval: false, approved: false };
  const rollout = { rolloutId: ID, state, devices: states.length, counts, stages: [stage], history, rules: {} };
  const transactions = devices.flatMap(({ deviceId, transactionId, status }) =>
    transactionId === null ? [] : [{ transactionId, deviceId, status, publishedAt: time(1) }],
  );
  return { rollout, devices, transactions } as unknown as RolloutSnapshot;
}

/** The books about a transaction with a result. */
function entryOf(n: number, status: string, { of = n, code = null as string | null, answer = status } = {}): Entry {
  const entry = newEntry(n, device(of), 0);
  const result = {
    status,
    code: code ?? (status === 'failed' ? 'INTERNAL' : null),
    webhookId: `w${n}`,
    body: 0,
    at: 2,
  };
  return Object.assign(entry, { deliveredAt: 1, answer, rolloutId: ID, result: { ...result, rolloutId: ID } });
}

function knownOf(entries: readonly Entry[], more: Partial<KnownRollout> & { body?: object } = {}): KnownRollout {
  const { body = {}, ...rest } = more;
  return {
    rolloutId: ID,
    plan: { body: { operation: 'setLanguage', devices: {}, ...body }, approve: null, resume: null } as never,
    devices: 2,
    members: null,
    devicesStay: true,
    transactions: new Map(entries.map((entry) => [entry.transactionId, entry])),
    events: [],
    approved: new Set(),
    pending: false,
    ...rest,
  };
}

const texts = (look: RolloutSnapshot, known: KnownRollout): string[] =>
  rolloutDifferences(look, known).map(({ deviceId, text }) =>
    deviceId === '' ? text : text.replace(ID, `${ID}, device ${deviceId}`),
  );

t.test('a rollout whose devices have the results of the books has no difference', async (t) => {
  t.strictSame(texts(lookOf(['succeeded', 'failed']), knownOf([entryOf(1, 'succeeded'), entryOf(2, 'failed')])), []);
  const cancelled = entryOf(1, 'cancelled', { answer: 'succeeded' });
  const look = lookOf(['succeeded', 'waiting']);
  (look.transactions as object[]).splice(0, 1, { ...look.transactions[0]!, status: 'cancelled' });
  t.strictSame(texts(look, knownOf([cancelled])), [], 'a command that was cancelled, and carried out all the same');
});

t.test('no more devices than may be are carrying out a command', async (t) => {
  const look = lookOf(['unfinished', 'unfinished']);
  look.rollout.rules.maxUnfinished = 1;
  const known = knownOf([1, 2].map((n) => newEntry(n, device(n), 0)));
  t.match(texts(look, known), [/2 devices are carrying out a command, and 1 may/]);
  look.devices[0]!.code = 'NO_PLACE';
  t.strictSame(texts(look, known), [], 'one of them waits for a place');
  const got = { ...newEntry(1, device(1), 0), deliveredAt: 5 };
  t.match(texts(look, knownOf([got, ...known.transactions.values()].slice(0, 1) as never)), [
    /the device waits for a place there, and it got its command/,
  ]);
});

t.test('a late success waits for its confirmation as well', async (t) => {
  const body = { confirm: { seenAgainWithin: 60 } };
  const differencesOf = (answer: string) =>
    rolloutDifferences(
      lookOf(['confirming']),
      knownOf([entryOf(1, 'failed', { code: 'NO_ANSWER', answer })], { body, devices: 1 }),
    ).filter(({ text }) => text.includes('confirming there'));
  t.same(differencesOf('succeeded'), []);
  t.match(differencesOf('failed'), [{ text: /and the customer got its result: failed NO_ANSWER/ }]);
});

t.test('a device that was deactivated after its provisional success is cancelled', async (t) => {
  const confirm = { confirm: { seenAgainWithin: 60 } };
  const differencesOf = (devicesStay: boolean, body: object = confirm, result = 'succeeded') =>
    rolloutDifferences(
      lookOf(['cancelled']),
      knownOf([entryOf(1, result as 'succeeded')], { body, devices: 1, devicesStay }),
    ).filter(({ text }) => text.includes('cancelled there'));
  t.same(differencesOf(false), []);
  const wrong = [{ text: /the device is cancelled there, and the customer got its result: succeeded/ }];
  t.match(differencesOf(true), wrong, 'nobody deactivates devices');
  t.match(differencesOf(false, {}), wrong, 'a success without confirm is final');
  t.match(differencesOf(false, confirm, 'failed'), [{ text: /got its result: failed/ }]);
});

const both = [entryOf(1, 'succeeded'), entryOf(2, 'succeeded')];
for (const [what, look, known, wanted] of [
  [
    'a device with another result',
    lookOf(['succeeded', 'failed']),
    knownOf(both),
    [
      /device 352900130000002: the device is failed INTERNAL there, and .* its result: succeeded$/,
      /2 is failed in the list/,
    ],
  ],
  [
    'a device with two final results',
    lookOf(['succeeded', 'succeeded']),
    knownOf([...both, entryOf(3, 'failed', { of: 2 })]),
    [
      /device 352900130000002: the device got 2 commands with a final result: transaction 2 succeeded, transaction 3 /,
      /./,
    ],
  ],
  [
    'a waiting device with a result',
    lookOf(['succeeded', 'waiting']),
    knownOf(both),
    [/device 352900130000002: the device waits there, and the customer got its result: succeeded/, /does not list/],
  ],
  [
    'an unfinished device with a result',
    lookOf(['succeeded', 'unfinished']),
    knownOf(both),
    [/the device is unfinished there, and the customer got its result/, /transaction 2 is unfinished in the list/],
  ],
  [
    'an unchanged device with a command',
    lookOf(['succeeded', 'unchanged']),
    knownOf([both[0]!, entryOf(2, 'failed')]),
    [/the device is unchanged there, and a command has reached it/, /does not list transaction 2/],
  ],
  [
    'a device that is missing, and one too many',
    lookOf(['succeeded', 'succeeded']),
    knownOf(both, { members: { must: new Set([device(1), device(3)]), mustNot: new Set([device(2)]) } }),
    [/device 352900130000003: the selector matches this device/, /device 352900130000002: .* does not match it/],
  ],
  [
    'another number of devices than at the start',
    lookOf(['succeeded', 'succeeded']),
    knownOf(both, { devices: 3 }),
    [/it began with 3 devices and has 2/],
  ],
  [
    'a webhook that never came',
    lookOf(['succeeded', 'succeeded'], {
      history: [{ at: time(1), event: 'stageStarted', stage: 1, by: 'service', reason: null }],
    }),
    knownOf(both),
    [/the history has stageStarted 1 1 times, and 0 webhooks about it arrived/],
  ],
] as const) {
  t.test(`${what} is a difference that names the rollout`, async (t) => {
    const found = texts(look, known);
    t.equal(found.length, wanted.length, found.join('\n'));
    for (const [index, words] of wanted.entries()) t.match(found[index], words);
    for (const text of found) t.ok(text.startsWith(`rollout ${ID}`), text);
  });
}

t.test('the devices of a selector by tags or a list are known, and those of other selectors are not', async (t) => {
  const activated = new Set(['1', '2', '3']);
  const tags: Record<string, Record<string, string>> = { 1: { site: 'osaka' }, 2: { site: 'kobe' } };
  const known = (selector: Parameters<typeof membersOf>[0]) => {
    const found = membersOf(selector, activated, (deviceId) => tags[deviceId] ?? {});
    return found && [[...found.must].join(), [...found.mustNot].join()];
  };
  t.strictSame(known({}), ['1,2,3', '']);
  t.strictSame(known({ tags: { site: 'osaka' } }), ['1', '2,3']);
  t.strictSame(known({ tags: { site: ['osaka', 'kobe'] } }), ['1,2', '3']);
  t.strictSame(known({ tags: { site: null } }), ['3', '1,2']);
  t.strictSame(known({ devices: ['2', '4'] }), ['2', '1,3'], 'nobody knows whether device 4 is activated');
  t.equal(known({ percent: 10 }), null);
});

t.test('counts that the list of devices does not have are a difference', async (t) => {
  const look = lookOf(['succeeded', 'succeeded']);
  Object.assign(look.rollout, { counts: { ...NONE, succeeded: 1, failed: 1 } });
  t.match(texts(look, knownOf(both)), [
    /device 352900130000001: the service counts 1 succeeded, 1 failed for it, and lists 2 succeeded$/,
  ]);
  t.strictSame(texts(look, knownOf(both, { devicesStay: false })), [], 'devices may have left');
});

t.test('a failed device that may try again has no final result', async (t) => {
  const body = { retry: { codes: ['INTERNAL'], attempts: 2, after: 0 } };
  const look = lookOf(['succeeded', 'waiting']);
  (look.transactions as object[]).push({
    ...look.transactions[0]!,
    transactionId: 2,
    deviceId: device(2),
    status: 'failed',
  });
  const entries = [entryOf(1, 'succeeded'), entryOf(2, 'failed')];
  t.strictSame(texts(look, knownOf(entries, { body })), []);
  t.match(texts(look, knownOf(entries)), [/waits there/]);
});

t.test('a device may be unchanged after a command that is to be tried again, until its success is known', async (t) => {
  const body = { retry: { codes: ['NO_ANSWER'], attempts: 2, after: 0 } };
  const look = lookOf(['succeeded', 'unchanged']);
  (look.transactions as object[]).push({
    ...look.transactions[0]!,
    transactionId: 2,
    deviceId: device(2),
    status: 'failed',
  });
  const judged = (answer: string | null): string[] => {
    const silent = entryOf(2, 'failed', { code: 'NO_ANSWER' });
    silent.answer = answer;
    return texts(look, knownOf([entryOf(1, 'succeeded'), silent], { body }));
  };
  t.strictSame(judged(null), []);
  t.match(judged('succeeded'), [/the device is unchanged there, and a command has reached it/]);
});

t.test('the rule must stop a rollout with the first result that makes it true', async (t) => {
  const abort = { failedPercent: 50, minimumResults: 2 };
  const paused = { at: time(2), event: 'paused', stage: 1, by: 'service', reason: 'ABORT_RULE' };
  /** The differences when the rollout was paused at so many failures and successes. */
  const judged = (failed: number, succeeded: number, body: object = { abort }): string[] => {
    const look = lookOf(['failed', 'failed'], { state: 'paused', history: [paused] });
    const counts = { ...NONE, failed, succeeded };
    const event = { type: 'rollout.paused', stage: 1, reason: 'ABORT_RULE', by: 'service', counts };
    return texts(look, knownOf([entryOf(1, 'failed'), entryOf(2, 'failed')], { body, events: [event] }));
  };
  t.strictSame(judged(2, 0), []);
  t.strictSame(judged(1, 1), []);
  t.match(judged(3, 0), [/it was paused when 3 of 3 results were failures, although the rule .* one result before/]);
  t.match(judged(1, 3), [/when 1 of 4 results were failures, which is below the limit of 50 % of at least 2 results/]);
  t.strictSame(judged(3, 0, { abort: { ...abort, codes: ['INTERNAL'] } }), [], 'counts do not tell codes apart');
  const running = lookOf(['failed', 'failed'], { state: 'running' });
  const failed = [entryOf(1, 'failed'), entryOf(2, 'failed')];
  t.match(texts(running, knownOf(failed, { body: { abort } })), [/2 of 2 results .* and it was never paused$/]);
});

t.test('commands that were published after a pause are overshoot, and devices without one are spared', async (t) => {
  const event = (seconds: number, name: string) => ({
    at: time(seconds),
    event: name,
    stage: 1,
    by: 'service',
    reason: null,
  });
  const history = [event(30, 'cancelled'), event(20, 'resumed'), event(10, 'paused'), event(0, 'created')];
  const look = lookOf(['succeeded', 'cancelled'], { state: 'cancelled', history });
  const published = (seconds: number): string[] => {
    const transactions = [{ ...look.transactions[0]!, publishedAt: time(seconds) }];
    return overshootOf({ ...look, transactions }).map(({ text }) => text);
  };
  for (const seconds of [9, 10.9, 21, 30.5]) t.strictSame(published(seconds), [], `${seconds}`);
  t.match(published(12), [/command 1 was published 2\.0 s after it was paused$/]);
  t.match(published(33), [/3\.0 s after it was cancelled$/]);
  t.strictSame(sparedBy(look, knownOf([entryOf(1, 'succeeded')])), [device(2)]);
  t.strictSame(sparedBy(look, knownOf([entryOf(1, 'succeeded'), entryOf(2, 'cancelled')])), [], 'it got the command');
});

t.test('a window may count from the start, in whole minutes', async (t) => {
  const at = Date.parse('2026-11-20T23:58:30Z');
  const minute = 60_000;
  t.strictSame(windowFrom(at, { opens: 0, closes: minute }), { from: '23:58', to: '00:00', timeZone: 'UTC' });
  t.strictSame(windowFrom(at, { opens: 2 * minute, closes: minute }), { from: '00:01', to: '00:00', timeZone: 'UTC' });
  t.strictSame(windowFrom(at, { opens: minute, closes: 3 * minute }), { from: '00:00', to: '00:02', timeZone: 'UTC' });
  const isOpen = isOpenIn(windowFrom(at, { opens: 2 * minute, closes: minute }));
  t.strictSame(
    [0, 80, 100, 160].map((seconds) => isOpen(at + seconds * 1000)),
    [true, true, false, true],
  );
  const fridays = isOpenIn({ days: ['fri'], from: '22:00', to: '05:00', timeZone: 'Asia/Tokyo' });
  const open = (text: string): boolean => fridays(Date.parse(text));
  t.ok(open('2026-11-20T13:00:00Z'), 'Friday at 22:00 in Tokyo');
  t.ok(open('2026-11-20T19:59:00Z'), 'its night belongs to Friday');
  t.notOk(open('2026-11-21T13:00:00Z'), 'Saturday');
});

t.test('a command that is published while the window is closed is overshoot', async (t) => {
  const look = lookOf(['succeeded']);
  const rules = { window: { from: '22:00', to: '05:00', timeZone: 'UTC' } };
  const at = (publishedAt: string) => {
    const transactions = [{ ...look.transactions[0]!, publishedAt }];
    return overshootOf({ ...look, rollout: { ...look.rollout, rules } as never, transactions });
  };
  t.strictSame(at('2026-11-20T04:59:59.999999Z'), []);
  t.strictSame(at('2026-11-20T05:00:04.000000Z'), [], 'the service needs a moment to close it');
  t.match(at('2026-11-20T05:00:06.000000Z'), [{ transactionId: 1, text: /outside of its window$/ }]);
  t.equal(at('2026-11-20T21:59:30.000000Z').length, 1);
});
