import {
  abortGap,
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
import t from 'tap';
import { byState } from '../../src/core/rollouts/counts.ts';

const NONE: RolloutCounts = byState([]);

t.test('a rollout is named by its label, else by its subject, else by its rolloutId', async (t) => {
  const rolloutId = 'rol_1';
  t.equal(nameOf({ rolloutId, label: 'night', subject: 'ja' }), 'night');
  t.equal(nameOf({ rolloutId, label: null, subject: 'ja' }), 'ja');
  t.equal(nameOf({ rolloutId, label: null, subject: null }), rolloutId);
});

t.test('each reason of a pause is a sentence, and only that of the service itself is an alarm', async (t) => {
  t.match(reasonWords('ABORT_RULE'), /^Too many devices failed/);
  t.match(reasonWords('CONTRACT_\u202eENDED'), /refused with CONTRACT_⟨U\+202E⟩ENDED\.$/);
  t.ok(hasStoppedItself({ state: 'paused', reason: 'STAGE_FAILED' }));
  t.notOk(hasStoppedItself({ state: 'paused', reason: 'REQUESTED' }));
  t.notOk(hasStoppedItself({ state: 'running', reason: null }));
});

t.test('the share of successes leaves out devices that were refused or cancelled', async (t) => {
  t.equal(successPercent({ ...NONE, succeeded: 5, unchanged: 1, failed: 1, waiting: 2, refused: 50 }), 66);
  t.equal(successPercent({ ...NONE, refused: 3, cancelled: 1 }), null);
  t.equal(countsWords({ ...NONE, waiting: 1_200, failed: 3 }), '3 failed, 1,200 waiting');
  t.equal(countsWords(NONE), 'no devices');
});

t.test('a stage says what it waits for', async (t) => {
  const stage = { planned: 4, state: 'running', approval: true, approved: false } as const;
  const counts = { ...NONE, succeeded: 3, waiting: 1 };
  const continueWhen = { succeededPercent: 75, soakFor: 7_200 };
  t.equal(
    nextWhen({ continueWhen, approval: true }),
    'The next stage begins when 75 % have succeeded, for 2 h, and somebody has approved it.',
  );
  t.equal(nextWhen({ continueWhen: null, approval: false }), 'The next stage begins when all its devices have ended.');
  t.ok(waitsForApproval({ ...stage, counts, continueWhen }));
  t.notOk(waitsForApproval({ ...stage, counts, continueWhen: { succeededPercent: 76 } }));
  t.notOk(waitsForApproval({ ...stage, counts, continueWhen: null }), 'its devices have not all ended');
  t.notOk(waitsForApproval({ ...stage, counts, continueWhen, approved: true }));
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
      supersede: true,
    }),
    [
      ['Pace', 'at most 60 commands a minute'],
      ['Window', 'mon, sat, 22:00 to 05:00 of the next day, Asia/Tokyo'],
      ['Abort rule', 'pauses when 10 % of at least 20 results are failures with A⟨U+200B⟩B'],
      ['Retry', 'up to 3 commands after DOWNLOAD_FAILED, 10 min later'],
      ['Deliver within', '7 d'],
      ['Older commands', 'each command ends older unfinished ones of its kind'],
    ],
  );
  const at = '2026-11-25T09:00:00.000000Z';
  t.same(entryWords({ at, event: 'stageStarted', stage: 2, by: 'service', reason: null }), {
    what: 'stage 2 began',
    who: 'the service',
    why: null,
  });
  t.match(entryWords({ at, event: 'paused', stage: 2, by: 'administration', reason: 'REQUESTED' }), {
    what: 'paused',
    who: 'the operator',
    why: null,
  });
});

t.test('the form says where an abort rule cannot act', async (t) => {
  t.equal(abortGap(20, [5]), 'The rollout has 5 devices, so it never has 20 results: this rule cannot pause it.');
  t.equal(abortGap(20, [5, 95]), 'The first stage has 5 devices: this rule cannot pause the rollout before stage 2.');
  t.equal(
    abortGap(11, [5, 5, 90]),
    'The first 2 stages have 10 devices: this rule cannot pause the rollout before stage 3.',
  );
  t.equal(abortGap(5, [5, 95]), null);
  t.equal(abortGap(5, [0]), null, 'without devices there is nothing to say');
});
