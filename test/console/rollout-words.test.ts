import {
  approvalWords,
  closedWords,
  countsWords,
  entryWords,
  hasStoppedItself,
  nameOf,
  nextWhen,
  reasonWords,
  rulesWords,
  selectorWords,
  successPercent,
  waitsForApproval,
} from '@lapel/console/base/rollout-words';
import type { RolloutCounts } from '@lapel/console/base/rows';
import { isReleaseBad } from '@lapel/schemas/base/rollouts';
import t from 'tap';
import { byState } from '../../src/core/rollouts/counts.ts';

const NONE: RolloutCounts = byState([]);

t.test('a rollout is named by its label, else by the version that it installs, else by its operation', async (t) => {
  const install = { operation: 'installSoftware', label: null, subject: 'com.example.camera@2.0.0' } as const;
  const wifi = { operation: 'setWifi', label: null, subject: '1 network' } as const;
  t.equal(nameOf({ ...wifi, label: 'night' }), 'night');
  t.equal(nameOf(install), 'com.example.camera@2.0.0');
  t.equal(nameOf(wifi), 'Set Wi-Fi: 1 network');
  t.equal(nameOf({ ...wifi, subject: null }), 'Set Wi-Fi');
});

t.test('a rollout whose first stage waits for its window says so', async (t) => {
  const window = { from: '22:00', to: '05:00', timeZone: 'Asia/Tokyo' } as const;
  const waits = { state: 'running', stage: 0, rules: { window } } as const;
  t.equal(
    closedWords(waits),
    'The first stage begins when the window opens: 22:00 to 05:00 of the next day, Asia/Tokyo.',
  );
  t.equal(closedWords({ ...waits, stage: 1 }), null);
  t.equal(closedWords({ ...waits, state: 'paused' }), null);
  t.equal(closedWords({ ...waits, rules: {} }), null);
});

t.test('each reason of a pause is a sentence, and only that of the service itself is an alarm', async (t) => {
  t.match(reasonWords('ABORT_RULE'), /^Too many devices failed/);
  t.match(reasonWords('CONTRACT_\u202eENDED'), /refused with CONTRACT_⟨U\+202E⟩ENDED\.$/);
  t.ok(hasStoppedItself({ state: 'paused', reason: 'STAGE_FAILED' }));
  t.notOk(hasStoppedItself({ state: 'paused', reason: 'REQUESTED' }));
  t.notOk(hasStoppedItself({ state: 'running', reason: null }));
});

t.test('a release that a rule has stopped is reverted first', async (t) => {
  const counts = { ...NONE, failed: 1 };
  for (const reason of ['ABORT_RULE', 'STAGE_FAILED', 'HEALTH_RULE'])
    t.ok(isReleaseBad({ state: 'paused', reason, counts }), reason);
  for (const reason of ['REQUESTED', 'HEALTH_UNKNOWN', 'BINARY_DELETED', null])
    t.notOk(isReleaseBad({ state: 'paused', reason, counts }), String(reason));
  t.notOk(
    isReleaseBad({ state: 'paused', reason: 'ABORT_RULE', reverts: 'rol_1', counts }),
    'a revert cannot be reverted',
  );
  t.notOk(isReleaseBad({ state: 'running', reason: null, counts }));
  const none = { ...NONE, refused: 3 };
  t.notOk(isReleaseBad({ state: 'paused', reason: 'STAGE_FAILED', counts: none }), 'no device has the release');
});

t.test('the share of successes leaves out devices that were unchanged, refused or cancelled', async (t) => {
  t.equal(successPercent({ ...NONE, succeeded: 5, unchanged: 1, failed: 1, waiting: 2, refused: 50 }), 62);
  t.equal(successPercent({ ...NONE, refused: 3, cancelled: 1 }), null);
  t.equal(countsWords({ ...NONE, waiting: 1_200, failed: 3 }), '3 failed, 1,200 waiting');
  t.equal(countsWords(NONE), 'no devices');
});

t.test('a stage says what it waits for', async (t) => {
  const stage = { state: 'running', approval: true, approvalBy: null, approved: false } as const;
  const continueWhen = { succeededPercent: 75, soakFor: 7_200 };
  t.equal(
    nextWhen({ continueWhen, approval: true }),
    'The next stage begins when 75 % have succeeded, for 2 h, and somebody has approved it.',
  );
  t.equal(nextWhen({ continueWhen: null, approval: false }), 'The next stage begins when all its devices have ended.');
  const soakEndsAt = '2026-11-20T09:30:00.123456Z';
  t.ok(waitsForApproval({ ...stage, soakEndsAt }));
  t.notOk(waitsForApproval({ ...stage, soakEndsAt: null }), 'it has not its share, as the service says');
  t.notOk(waitsForApproval({ ...stage, soakEndsAt, approved: true }));
  const [before, after] = [Date.parse('2026-11-20T09:00:00Z'), Date.parse('2026-11-20T10:00:00Z')];
  t.equal(
    approvalWords(1, { ...stage, soakEndsAt }, before),
    'Stage 1 has its successes. The next stage waits for the end of the soak, and for an approval.',
  );
  t.equal(
    approvalWords(2, { approvalBy: 'other', soakEndsAt }, after),
    'Stage 2 has its successes. The next stage waits for the approval of a person who has neither started it nor changed it last.',
  );
});

t.test('a selector is read as facts, with hostile texts made visible', async (t) => {
  t.same(selectorWords({}), [['Devices', 'all activated devices']]);
  t.same(selectorWords({ devices: ['1', '2', '3', '4', '5', '6', '7'] }), [
    ['Devices', '7 deviceIds: 1, 2, 3, 4, 5 and 2 others'],
  ]);
  t.same(
    selectorWords({
      tags: { site: ['osaka', 'ky\u202eoto'], old: null, ring: 'canary' },
      package: 'com.example.camera',
      versionNot: '1.1.0',
      firmwareVersionRange: '>=8 <9',
      connected: false,
      batteryAtLeast: 30,
      charging: false,
      networkType: 'lte',
      storageFreeAtLeast: 104_857_600,
      rollout: 'rol_1',
      memberState: 'failed',
      lastSeenWithin: 3_600,
      percent: 5,
      salt: 'x',
    }),
    [
      ['Tag site', 'osaka or ky⟨U+202E⟩oto'],
      ['Tag old', 'no such tag'],
      ['Tag ring', 'canary'],
      ['Package', 'com.example.camera'],
      ['Version', 'not 1.1.0'],
      ['Firmware', 'in the range >=8 <9'],
      ['Battery', 'at least 30 %'],
      ['Charging', 'no'],
      ['Network', 'lte'],
      ['Free storage', 'at least 100 MiB'],
      ['Of the rollout', 'rol_1'],
      ['In the state', 'failed'],
      ['Connection', 'not connected'],
      ['Seen within', '1 h'],
      ['Share', '5 % of them, salt x'],
    ],
  );
});

t.test('rules and what happened are read as facts', async (t) => {
  t.same(
    rulesWords({
      ratePerMinute: 60,
      window: { days: ['mon', 'sat'], from: '22:00', to: '05:00', timeZone: 'Asia/Tokyo' },
      abort: { failedPercent: 10, minimumResults: 20, codes: ['A\u200bB'] },
      retry: { codes: ['DOWNLOAD_FAILED'], attempts: 3, after: 600 },
      expireIn: 604_800,
      revertAfter: 300,
      supersede: true,
    }),
    [
      ['Pace', 'at most 60 commands a minute'],
      ['Window', 'mon, sat, 22:00 to 05:00 of the next day, Asia/Tokyo'],
      ['Abort rule', 'pauses when 10 % of at least 20 results are failures with A⟨U+200B⟩B'],
      ['Retry', 'up to 3 commands after DOWNLOAD_FAILED, 10 min later'],
      ['Deliver within', '7 d'],
      ['Way back', 'a device that does not reach the service within 5 min takes its former list again'],
      ['Older commands', 'each command ends older unfinished ones of its kind'],
    ],
  );
  const at = '2026-11-25T09:00:00.000000Z';
  t.same(
    entryWords({
      at,
      event: 'stageStarted',
      stage: 2,
      by: 'service',
      person: null,
      reason: null,
      health: null,
      verdict: null,
    }),
    {
      what: 'stage 2 began',
      who: 'the service',
      why: null,
      figures: null,
    },
  );
  t.match(
    entryWords({
      at,
      event: 'paused',
      stage: 2,
      by: 'administration',
      person: null,
      reason: 'REQUESTED',
      health: null,
      verdict: null,
    }),
    {
      what: 'paused',
      who: 'the operator',
      why: null,
    },
  );
});
