import { readScenario } from '@lapel/device-sim/scenario/read-scenario';
import { scaled } from '@lapel/device-sim/scenario/scale';
import t from 'tap';

/** A scenario with this action. */
const written = (action: string, more = ''): string =>
  `name: story\ndevices: 100\nphases:\n  - name: work\n    duration: 1m\n    actions: [${action}]\n${more}`;
const SITES = 'groups: [{ name: kansai, deviceTags: { site: osaka } }]\n';
const read = (action: string, more?: string) => readScenario(written(action, more), 'story.yaml').scenario;
const rollout = (members: string): string => `{ do: rollout, release: { version: 1.1.0 }, ${members} }`;

const COMPLETE = rollout(`after: 10s, label: Camera, devices: { tags: { site: [osaka, kobe], test: null } },
      stages: [{ percent: 5, continueWhen: { succeededPercent: 95, soakFor: 20s }, approval: true }, { count: 40 }],
      ratePerMinute: 600, window: { closes: 2m, opens: 5m }, startIn: 30s,
      abort: { failedPercent: 10, minimumResults: 20 }, retry: { codes: [DOWNLOAD_FAILED], attempts: 3, after: 10s },
      expireIn: 1h, answerWithin: 5m, supersede: true, preferConnected: true, approve: 20s, resume: true`);

t.test('a rollout has the body of the API, in the words of scenarios', async (t) => {
  const { phases } = read(`${COMPLETE}, { do: setWifi, rate: 1/s }`, SITES);
  t.match(phases[0]?.actions, [{ do: 'setWifi' }]);
  t.strictSame(phases[0]?.rollouts, [
    {
      after: 10_000,
      plan: {
        body: {
          operation: 'installSoftware',
          devices: { tags: { site: ['osaka', 'kobe'], test: null } },
          label: 'Camera',
          stages: [{ percent: 5, continueWhen: { succeededPercent: 95, soakFor: 20 }, approval: true }, { count: 40 }],
          ratePerMinute: 600,
          abort: { failedPercent: 10, minimumResults: 20 },
          retry: { codes: ['DOWNLOAD_FAILED'], attempts: 3, after: 10 },
          expireIn: 3600,
          answerWithin: 300,
          supersede: true,
          preferConnected: true,
        },
        release: { version: '1.1.0' },
        window: { opens: 300_000, closes: 120_000 },
        startAt: 30_000,
        approve: 20_000,
        resume: 0,
      },
    },
  ]);
});

t.test('a rollout needs no more than an operation, and is for all devices then', async (t) => {
  const [only] = read('{ do: rollout, operation: setLanguage, parameters: { lang: ja } }').phases[0]?.rollouts ?? [];
  const plan = {
    body: { operation: 'setLanguage', devices: {} },
    parameters: { lang: 'ja' },
    approve: null,
    resume: null,
  };
  t.strictSame(only, { after: 0, plan });
});

t.test('in another size a rollout keeps its shares, and runs faster', async (t) => {
  const small = scaled(read(COMPLETE, SITES), { devices: 20, faster: 2 }).phases[0]?.rollouts[0];
  t.match(small, {
    after: 5000,
    plan: {
      body: {
        stages: [{ percent: 5, continueWhen: { soakFor: 10 } }, { count: 8 }],
        ratePerMinute: 240,
        abort: { failedPercent: 10, minimumResults: 4 },
        retry: { after: 5 },
        expireIn: 3600,
      },
      window: { opens: 150_000, closes: 60_000 },
      startAt: 15_000,
      approve: 10_000,
    },
  });
  const short = scaled(read(COMPLETE, SITES), { faster: 10 }).phases[0]?.rollouts[0]?.plan;
  t.notOk(short?.window, 'a window that would be shorter than a minute is left out');
  const daily = rollout('window: { from: "22:00", to: "05:00", timeZone: Asia/Tokyo, days: [fri] }');
  const window = { from: '22:00', to: '05:00', timeZone: 'Asia/Tokyo', days: ['fri'] };
  t.strictSame(scaled(read(daily), { faster: 10 }).phases[0]?.rollouts[0]?.plan.window, window);
});

t.test('the rate of a rollout may grow, and a stage may need some results', async (t) => {
  const growing = rollout(`ratePerMinute: { from: 10, to: 600, doubleAfter: 50 },
      stages: [{ percent: 5, continueWhen: { succeededPercent: 95, minimumResults: 10 } }]`);
  const bodyOf = (scenario: ReturnType<typeof read>) => scenario.phases[0]?.rollouts[0]?.plan.body;
  t.match(bodyOf(read(growing)), {
    ratePerMinute: { from: 10, to: 600, doubleAfter: 50 },
    stages: [{ continueWhen: { succeededPercent: 95, minimumResults: 10 } }],
  });
  t.match(bodyOf(scaled(read(growing), { devices: 50, faster: 2 })), {
    ratePerMinute: { from: 10, to: 600, doubleAfter: 25 },
    stages: [{ continueWhen: { minimumResults: 5 } }],
  });
});

t.test('a group has tags for the service, besides its names in the scenario', async (t) => {
  const { groups } = read('', 'groups: [{ name: a, tags: [old], deviceTags: { site: osaka } }, { name: b }]\n');
  t.match(groups, [
    { tags: ['old'], deviceTags: { site: 'osaka' } },
    { tags: [], deviceTags: {} },
  ]);
});

t.test('a fault may be about the versions of a bad release, with a code', async (t) => {
  const fault = '{ fault: fails, probability: 5 %, versions: [1.1.0], code: BOOT_FAILED }';
  const { groups } = read(rollout('label: bad'), `groups: [{ name: a, faults: [${fault}] }]\n`);
  t.strictSame(groups[0]?.faults, [{ fault: 'fails', probability: 0.05, versions: ['1.1.0'], code: 'BOOT_FAILED' }]);
});

for (const [what, action, words] of [
  ['a rate', rollout('rate: 1/s'), /rate: cannot be given for rollout, which selects its devices by `devices`/],
  ['a group', rollout('groups: [all]'), /groups: cannot be given for rollout/],
  ['no release', '{ do: rollout }', /release: is needed for installSoftware/],
  ['no parameters', '{ do: rollout, operation: setWifi }', /parameters: is needed for setWifi/],
  ['a stage without a size', rollout('stages: [{ approval: true }]'), /stages\[0\]: needs either percent or count/],
  ['too large stages', rollout('stages: [{ percent: 60 }, { percent: 60 }]'), /stages: have more than 100 percent/],
  [
    'a rate that shrinks',
    rollout('ratePerMinute: { from: 9, to: 5, doubleAfter: 1 }'),
    /ratePerMinute\.to: must not be less than from/,
  ],
  ['half a rate', rollout('ratePerMinute: { from: 9 }'), /ratePerMinute: must be a whole number .*, or \{ from, to,/],
  ['half a window', rollout('window: { opens: 1m }'), /window: needs closes, or from, to and timeZone/],
  ['a short window', rollout('window: { closes: 30s }'), /window: needs at least one minute between opens and closes/],
  [
    'two windows',
    rollout('window: { closes: 2m, from: "22:00", to: "05:00", timeZone: UTC }'),
    /window: has either closes and opens, or from/,
  ],
  [
    'two starts',
    rollout('startIn: 1m, startAt: 2026-11-20T08:30:00Z'),
    /startAt: cannot be given together with startIn/,
  ],
  ['a short term', rollout('expireIn: 30s'), /expireIn: must be whole seconds, from 60s to 30d/],
  ['a stage in another action', '{ do: setWifi, rate: 1/s, stages: [] }', /stages: can be given only for rollout/],
] as const) {
  t.test(`${what} is refused with a sentence`, async (t) => {
    t.throws(() => read(action), { message: words });
  });
}
