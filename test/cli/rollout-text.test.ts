import { abortNote } from '@lapel/cli/rollout/abort-note';
import { linesInRoom, linesOf, type Rollout } from '@lapel/cli/rollout/rollout-text';
import { widthOf } from '@lapel/cli/show/text-width';
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
const stage = (state: Rollout['stages'][number]['state'], counts: Partial<typeof NONE>, more: object = {}) => ({
  planned: 50_000,
  state,
  counts: { ...NONE, ...counts },
  continueWhen: { succeededPercent: 95, soakFor: 5400 },
  approval: true,
  soakEndsAt: null,
  approvalBy: null,
  approved: false,
  health: null,
  inWork: { installing: 0, switchedOff: 0, queued: 0 },
  verdict: null,
  verdictTag: null,
  ...more,
});

/** A rollout of twenty stages, of which the tenth runs, with more codes of errors than a terminal shows. */
const rollout = {
  stage: 10,
  devices: 1_000_000,
  stages: [
    ...Array.from({ length: 9 }, () => stage('over', { succeeded: 49_000, failed: 1_000 })),
    stage('running', {
      waiting: 10_000,
      unfinished: 10_000,
      succeeded: 20_000,
      failed: 10_000,
      cancelled: 1,
      refused: 2,
    }),
    ...Array.from({ length: 10 }, () => stage('waiting', { waiting: 50_000 })),
  ],
  errors: Array.from({ length: 50 }, (_, index) => ({
    state: 'failed' as const,
    code: `日本語${'字'.repeat(50)}\u001b[3${index}m`,
    devices: 1 + index,
    examples: ['490154203237518', '356938035643809', '352099001761481'],
  })),
  resultsPerMinute: 1234.5,
  estimatedEnd: '2026-11-20T09:30:00.123456Z',
  endWaitsFor: null,
  abortRule: null,
  healthRules: [],
} as unknown as Rollout;

t.test('a rollout fits the width of a terminal, and its rows', async (t) => {
  for (const width of [59, 79, 119]) {
    for (const line of linesOf(rollout, width)) t.ok(widthOf(line) <= width, line);
    for (const room of [22, 38, 100]) {
      const lines = linesInRoom(rollout, width, room);
      t.ok(lines.length <= room, `${lines.length} of ${room}`);
      t.match(lines.join('\n'), /stage 10 of 20 .*\n {2}10000 waiting, /);
      t.match(lines.slice(-8), [
        'Errors',
        /^ {2}failed /,
        /^ /,
        /^ /,
        /^ /,
        /^ /,
        '  and 45 more codes',
        /^1234\.5 results/,
      ]);
      for (const line of lines) t.ok(widthOf(line) <= width, line);
    }
  }
  const few = linesInRoom(rollout, 79, 22);
  t.match(few[0], /^\.\.\. \d stages before$/);
  t.equal(few.filter((line) => /^\.\.\. \d+ stages after$/.test(line)).length, 1);
});

t.test('every stage has a bar, with what is planned and what is reached', async (t) => {
  const stages = [
    stage('over', { succeeded: 10 }),
    stage('running', { succeeded: 8, failed: 1, unfinished: 11, refused: 5 }, { planned: 25 }),
    stage('waiting', { waiting: 40 }, { planned: 40, continueWhen: null }),
    stage('waiting', { waiting: 25 }, { planned: 25, approval: false }),
  ];
  const small = { ...rollout, stage: 2, devices: 100, stages, errors: [], resultsPerMinute: null };
  t.same(linesOf(small, null), [
    'stage 1 of 4  [########################] 100 %  10 of 10 (10 %)',
    '  10 succeeded',
    'stage 2 of 4  [#############           ]  56 %  14 of 25 (25 %)',
    '  11 unfinished, 8 succeeded, 1 failed, 5 refused',
    '  next stage: at 95 % succeeded (now 40 %), 90 min later, after approval',
    'stage 3 of 4  [                        ]   0 %  0 of 40 (40 %)',
    '  next stage: when all have ended, after approval',
    'stage 4 of 4  [                        ]   0 %  0 of 25 (25 %)',
  ]);
  const errors = [{ state: 'failed', code: 'BROKEN', devices: 1, examples: ['490154203237518'] }] as Rollout['errors'];
  t.same(
    linesOf({ ...small, errors, resultsPerMinute: 2 }, null).slice(7),
    [
      'stage 4 of 4  [                        ]   0 %  0 of 25 (25 %)',
      'Errors',
      '  failed BROKEN: 1 device, for example 490154203237518',
      '2 results a minute, the end at about 2026-11-20T09:30:00.123456Z',
    ],
    'errors are not lines of the last stage',
  );
  t.same(linesOf(small, 59).slice(2, 6), [
    'stage 2 of 4  [#######     ]  56 %  14 of 25',
    '  11 unfinished, 8 succeeded, 1 failed, 5 refused',
    '  next stage: at 95 % succeeded (now 40 %), 90 min later,',
    '    after approval',
  ]);
});

t.test('a note says where an abort rule cannot act', async (t) => {
  const noteOf = (sizes: number[], minimumResults: number | null, continuous?: true) =>
    abortNote({
      devices: sizes.reduce((sum, one) => sum + one, 0),
      stages: sizes.map((planned) => stage('waiting', { waiting: planned }, { planned })),
      rules: {
        ...(minimumResults !== null && { abort: { failedPercent: 10, minimumResults } }),
        ...(continuous && { continuous }),
      },
    } as unknown as Rollout);
  for (const [sizes, minimum, expected] of [
    [[3], 10, 'the rollout has 3 devices: it cannot pause the rollout (--after 3 can)'],
    [[1], 2, 'the rollout has 1 device: it cannot pause the rollout (--after 1 can)'],
    [[5, 5, 90], 11, 'the first 2 stages have 10 devices: it cannot pause the rollout before stage 3 of 3'],
    [[5, 95], 20, 'the first stage has 5 devices: it cannot pause the rollout before stage 2 of 2'],
  ] as const)
    t.equal(noteOf([...sizes], minimum), `note: the abort rule needs ${minimum} results, and ${expected}`);
  t.match(noteOf([3], 10, true), /cannot pause the rollout before more devices join \(/);
  for (const [sizes, minimum] of [
    [[5, 95], 5],
    [[3], 3],
    [[3], null],
    [[0], 10],
  ] as const)
    t.equal(noteOf([...sizes], minimum), null, `${sizes.join()} ${minimum}`);
});
