import { ACTIONS, ROLLOUT } from '@lapel/device-sim/customer/action';
import { OPERATIONS } from '@lapel/device-sim/customer/operator';
import { PROGRAM_FAULTS } from '@lapel/device-sim/customer/program';
import { RECEIVER_FAULTS } from '@lapel/device-sim/customer/receiver-fault';
import { FAULTS } from '@lapel/device-sim/faults/fault';
import { operations } from '@lapel/device-sim/model/operations';
import { schemaText } from '@lapel/device-sim/scenario/check-shape';
import { readScenario } from '@lapel/device-sim/scenario/read-scenario';
import { openScenario, readyNames } from '@lapel/device-sim/scenario/ready';
import { scaled } from '@lapel/device-sim/scenario/scale';
import { ScenarioError } from '@lapel/device-sim/scenario/scenario-error';
import { WEARERS } from '@lapel/device-sim/scenario/wearing';
import { SERVICE_FAULTS } from '@lapel/device-sim/service/service-fault';
import t from 'tap';

const plain = 'name: story\ndevices: 10\nphases:\n  - name: work\n    duration: 1m\n';
const read = (text: string) => readScenario(text, 'story.yaml').scenario;
/** The message with which a scenario is refused. */
function refusal(text: string): string {
  try {
    read(text);
  } catch (error) {
    if (error instanceof ScenarioError) return error.message;
    throw error;
  }
  return '';
}

t.test('missing values have defaults', async (t) => {
  t.match(read(plain), {
    name: 'story',
    seed: 1,
    connectRate: 200,
    activate: true,
    lateAfter: 60_000,
    settle: 30_000,
    rounds: 1,
    groups: [{ name: 'all', count: 10, faults: [], absence: { share: 0 } }],
    phases: [{ name: 'work', duration: 60_000, untilIdle: null, connect: null, actions: [] }],
    expectations: [],
  });
});

t.test('durations, rates, shares and sizes become numbers', async (t) => {
  const { groups, phases } = read(`${plain}    actions:
      - { do: setWifi, rate: 30/m, share: 10 % }
      - { do: install, each: 2, within: 20s, release: { version: 1.0.0, size: 2 kB } }
groups:
  - name: one
    storage: 1 GiB
    network: { profile: lte, away: 0.5 }
    behaviour: { latency: 50ms-2s, silent: [setApn], fileSize: 1 KiB-1 MiB }
    life: { calls: 12/h, callLength: 20s-2m, statusInterval: 0s }
`);
  t.match(groups, [
    {
      equipment: { storage: 1024 ** 3 },
      behaviour: { latency: { min: 80, max: 2150 }, fileSize: { min: 1024, max: 1024 ** 2 } },
      absence: { share: 0.5, window: { min: 5000, max: 30_000 } },
      life: { calls: 12, callLength: { min: 20_000, max: 120_000 }, statusInterval: 0 },
    },
  ]);
  t.match(phases[0]?.actions, [
    { do: 'setWifi', share: 0.1, pace: { perSecond: 0.5 }, groups: ['one'] },
    { do: 'install', share: 1, pace: { each: 2, within: 20_000 }, release: { version: '1.0.0', size: 2000 } },
  ]);
});

t.test('groups share the devices by count, by share, and evenly', async (t) => {
  const counts = (groups: string) => read(`${plain}groups: [${groups}]`).groups.map(({ count }) => count);
  t.strictSame(counts('{ name: a, count: 3 }, { name: b }, { name: c }'), [3, 4, 3]);
  t.strictSame(counts('{ name: a, share: 33 % }, { name: b, share: 33 % }, { name: c, share: 34 % }'), [3, 3, 4]);
  t.strictSame(counts('{ name: a, count: 2 }, { name: b, share: 50 % }, { name: c }'), [2, 5, 3]);
});

t.test('tags are names of several groups, and faults of phases are rules of groups', async (t) => {
  const { phases, groups } = read(`${plain}    disconnect: { groups: [moves], how: cut }
    faults: [{ fault: fails, probability: 5 %, groups: [b] }]
groups: [{ name: a, tags: [moves] }, { name: b, tags: [moves] }, { name: c }]
`);
  t.match(phases[0]?.disconnect, { groups: ['a', 'b'], share: 1, cut: true });
  t.strictSame(
    groups.map(({ faults }) => faults),
    [[], [{ fault: 'fails', probability: 0.05, phases: ['work'] }], []],
  );
});

t.test('all faults are named at once, with line and path', async (t) => {
  t.equal(
    refusal('name: story\ndevices: 10\nphases:\n  - name: work\n    duration: ages\n    acitons: []\n'),
    'story.yaml:5: phases[0].duration: must be a duration such as 30s, 5m, 250ms, 2h or 1d\n' +
      'story.yaml:6: phases[0].acitons: is unknown here; did you mean "actions"? there are name, about, duration, untilIdle, connect, disconnect, network, receiver, programs, service, faults, actions',
  );
});

for (const [what, text, words] of [
  ['no YAML', 'name: [', /^story\.yaml:1: /],
  ['no mapping', '- 1', /^story\.yaml:1: must be object/],
  ['nothing', '', /must be object/],
  ['a missing name', 'devices: 1\nphases: [{ name: a, duration: 1s }]', /^story\.yaml:1: name: is needed/],
  ['no device', 'name: a\ndevices: 0\nphases: [{ name: a, duration: 1s }]', /^story\.yaml:2: devices: must be >= 1/],
  [
    'an unknown action',
    `${plain}    actions: [{ do: setWify, rate: 1/s }]`,
    /:6: phases\[0\]\.actions\[0\]\.do: has no value "setWify"; did you mean "setWifi"\?/,
  ],
  [
    'an unknown group',
    `${plain}    actions: [{ do: setWifi, rate: 1/s, groups: [al] }]`,
    /:6: phases\[0\]\.actions\[0\]\.groups\[0\]: there is no group or tag "al"; did you mean "all"\? there are all/,
  ],
  [
    'an unknown fault',
    `${plain}groups: [{ name: a, faults: [{ fault: fail, probability: 1 }] }]`,
    /groups\[0\]\.faults\[0\]\.fault: has no value "fail"; did you mean "fails"/,
  ],
  [
    'an unknown operation',
    `${plain}groups: [{ name: a, behaviour: { silent: [setWiFi] } }]`,
    /silent\[0\]: has no value "setWiFi"; did you mean "setWifi"/,
  ],
  [
    'a share of 200 %',
    `${plain}groups: [{ name: a, share: 200 % }]`,
    /groups\[0\]\.share: must be a share such as 0\.1 or 10 %/,
  ],
  [
    'an unknown network',
    `${plain}groups: [{ name: a, network: 5g }]`,
    /groups\[0\]\.network: .*good, wifi, lte, tunnel or flaky/,
  ],
  [
    'groups of more devices than there are',
    `${plain}groups: [{ name: a, count: 11 }]`,
    /groups: the groups have 11 devices together, but the scenario has 10/,
  ],
  ['groups that leave some out', `${plain}groups: [{ name: a, share: 50 % }]`, /groups: the groups have only 50 %/],
  ['a group twice', `${plain}groups: [{ name: a }, { name: a }]`, /groups\[1\]\.name: "a" is already a name/],
  [
    'a phase with a name that is taken',
    'name: a\ndevices: 1\nphases: [{ name: settle, duration: 1s }]',
    /phases\[0\]\.name: each report already has a part with the name "settle"/,
  ],
  [
    'an action without a pace',
    `${plain}    actions: [{ do: setWifi }]`,
    /phases\[0\]\.actions\[0\]: needs either rate or each/,
  ],
  [
    'an action with two paces',
    `${plain}    actions: [{ do: setWifi, rate: 1/s, each: 1 }]`,
    /needs either rate or each/,
  ],
  [
    'an install of nothing',
    `${plain}    actions: [{ do: install, each: 1 }]`,
    /actions\[0\]\.release: is needed for install/,
  ],
  [
    'a release of nothing',
    `${plain}    actions: [{ do: setWifi, each: 1, release: { version: 1.0.0 } }]`,
    /release: cannot be given for setWifi/,
  ],
  [
    'a time that is too short',
    `${plain}    actions: [{ do: setWifi, each: 1, expireIn: 30s }]`,
    /expireIn: must be whole seconds, from 60s to 30d/,
  ],
  [
    'an activation that supersedes another',
    `${plain}    actions: [{ do: activate, each: 1, supersede: true }]`,
    /supersede: cannot be given for activate/,
  ],
  [
    'terms of an action without a command',
    `${plain}    actions: [{ do: readStatus, each: 1, answerWithin: 2m }]`,
    /answerWithin: cannot be given for readStatus/,
  ],
  [
    'a phase that never ends before another',
    'name: a\ndevices: 1\nphases: [{ name: b }, { name: c, duration: 1s }]',
    /phases\[0\]: needs a duration/,
  ],
  [
    'an expectation about a group that is unknown',
    `${plain}expectations: ["lost(group: al) == 0"]`,
    /expectations\[0\]: there is no group "al"; did you mean "all"\? there are all/,
  ],
  [
    'an expectation about an action that is unknown',
    `${plain}expectations: ["lost(action: setWiFi) == 0"]`,
    /expectations\[0\]: there is no action "setWiFi"; did you mean "setWifi"\?/,
  ],
  [
    'two expectations that exclude each other',
    `${plain}expectations: [succeeded == 100 %, lost == 0, succeeded < 50 %]`,
    /expectations\[2\]: contradicts "succeeded == 100 %": they can never hold together/,
  ],
  [
    'an expectation of less than nothing',
    `${plain}expectations: [lost < 0]`,
    /expectations\[0\]: can never hold, because no figure is below 0/,
  ],
  [
    'an expectation that is none',
    `${plain}expectations: [all is well]`,
    /:6: expectations\[0\]: must be FIGURE OPERATOR NUMBER/,
  ],
  [
    'an expectation of an unknown phase',
    `${plain}expectations: [{ expect: lost == 0, phase: wrok }]`,
    /expectations\[0\]\.phase: there is no phase "wrok"; did you mean "work"\? there are start, work, settle/,
  ],
] as const) {
  t.test(`${what} is refused with a sentence`, async (t) => t.match(refusal(text), words));
}

t.test('a file that uses up the stack or the memory of a reader is refused with a sentence', async (t) => {
  for (const unit of ['[', '{', '- ', '? ']) t.match(refusal(unit.repeat(20_000)), /nested too deeply/, unit);
  t.ok(refusal('['.repeat(20_000)).split('\n').length <= 20, 'the faults are few');
  const tens = (name: string): string => `[${Array.from({ length: 10 }, () => name).join()}]`;
  t.match(refusal(`a: &a ${tens('1')}\nb: &b ${tens('*a')}\nc: &c ${tens('*b')}\nd: ${tens('*c')}\n`), /alias/);
  t.match(refusal('name: *nobody\n'), /alias/);
  t.match(refusal('%YAML 1.1\n---\n<<: 1\n'), /[Mm]erge/);
  t.match(refusal('devices: &a [*a]\n'), /devices/);
});

t.test('programs of the customer have what the API takes, and faults of their own kind', async (t) => {
  const programs = `endpoints:
  - { name: billing, types: [transaction.*], ordered: device, ratePerSecond: 50, signatures: v1a }
  - { name: alarms }
consumers:
  - { name: warehouse, page: 20 }
`;
  const fault = (text: string): string => `${plain}    programs: [{ ${text} }]\n${programs}`;
  t.match(read(fault('fault: jumps, program: warehouse, after: 3s')), {
    programs: [
      {
        kind: 'endpoint',
        name: 'billing',
        types: ['transaction.*'],
        isOrdered: true,
        ratePerSecond: 50,
        signatures: 'v1a',
      },
      { kind: 'endpoint', name: 'alarms', types: [], isOrdered: false, ratePerSecond: null, signatures: 'v1' },
      { kind: 'consumer', name: 'warehouse', types: [], page: 20 },
    ],
    phases: [{ programs: [{ fault: 'jumps', program: 'warehouse', after: 3000 }] }],
  });
  t.match(scaled(read(fault('fault: jumps, program: warehouse, after: 3s')), { faster: 2 }).phases, [
    { programs: [{ after: 1500 }] },
  ]);
  t.match(
    refusal(fault('fault: jumps, program: warehose')),
    /there is no consumer "warehose"; did you mean "warehouse"/,
  );
  t.match(
    refusal(fault('fault: forgets, program: warehouse')),
    /forgets is a fault of endpoints, and warehouse is none/,
  );
  t.match(
    refusal(`${plain}endpoints: [{ name: a }]\nconsumers: [{ name: a }]\n`),
    /"a" is already a name in this list/,
  );
  t.match(refusal(`${plain}endpoints: [{ name: a, types: ['*'] }]\n`), /must be a type of event/);
});

t.test('the schema lists all actions, faults and operations', async (t) => {
  const { $defs } = JSON.parse(schemaText());
  t.strictSame($defs.fault.properties.fault.enum, Object.keys(FAULTS));
  t.strictSame($defs.receiverFault.properties.fault.enum, Object.keys(RECEIVER_FAULTS));
  t.strictSame($defs.serviceFault.properties.fault.enum, Object.keys(SERVICE_FAULTS));
  t.strictSame($defs.programFault.properties.fault.enum, Object.keys(PROGRAM_FAULTS));
  const faults = [FAULTS, RECEIVER_FAULTS, PROGRAM_FAULTS, SERVICE_FAULTS].flatMap((some) => Object.keys(some));
  t.equal(new Set(faults).size, faults.length, 'played(NAME) is about one fault');
  t.strictSame($defs.action.properties.do.enum, [ACTIONS, ROLLOUT, WEARERS, OPERATIONS].flatMap(Object.keys));
  t.strictSame(new Set($defs.operation.enum), new Set(operations.keys()));
});

t.test(
  'every included scenario is valid, has a description, and expects that nothing is lost or doubled',
  async (t) => {
    const names =
      'bad-release campaign canary commuter endpoints firmware-mix flaky-network hostile hours month outage promises reconnect-storm shift smoke turnover';
    t.strictSame(readyNames(), names.split(' '));
    for (const name of readyNames()) {
      const { scenario } = openScenario(name);
      t.equal(scenario.name, name);
      t.ok(scenario.about.length > 20, scenario.about);
      const texts = scenario.expectations.filter(({ phase }) => phase === null).map(({ text }) => text);
      t.ok(texts.includes('lost == 0') && texts.includes('doubled == 0'), name);
    }
  },
);

t.test('in another size groups keep their shares, and time runs faster', async (t) => {
  const { scenario } = openScenario('shift');
  const small = scaled(scenario, { devices: 20, faster: 10 });
  t.strictSame(
    small.groups.map(({ count }) => count),
    [12, 6, 2],
  );
  t.match(small.groups[0]?.life, { calls: 120, callLength: { min: 2000, max: 12_000 } });
  t.equal(small.phases[1]?.duration, 36_000);
  t.strictSame(small.phases[1]?.actions[0]?.pace, { perSecond: 5 });
  t.strictSame(small.expectations, scenario.expectations);
});

t.test('a scenario is refused whose parts can test nothing', async (t) => {
  const text = `name: story
devices: 10
groups:
  - name: osaka
    deviceTags: { site: osaka }
    faults:
      - { fault: fails, probability: 1, versions: [1.0.0, 1.1.0] }
      - { fault: download-cut, probability: 1, operations: [setWifi, setApn] }
phases:
  - name: work
    duration: 1m
    faults: [{ fault: bricks, probability: 1, versions: [2.0.0] }]
    actions:
      - { do: install, each: 1, release: { version: 1.0.0, file: ./camera.apk } }
      - do: rollout
        release: { version: 1.0.1 }
        devices: { tags: { site: [tokyo, kyoto], ring: canary, old: null } }
        window: { from: '22:00', to: '05:00', timeZone: Asia/Tokio }
`;
  const folder = t.testdir({ 'story.yaml': text });
  t.throws(() => openScenario(`${folder}/story.yaml`), {
    message: [
      /:7: groups\[0\]\.faults\[0\]\.versions\[1\]: nothing in this scenario installs version "1\.1\.0"; did you mean "1\.0\.0"/,
      /:8: groups\[0\]\.faults\[1\]\.operations: download-cut can happen at installSoftware and updateFirmware only/,
      /:12: phases\[0\]\.faults\[0\]\.versions\[0\]: nothing in this scenario installs version "2\.0\.0"/,
      /:14: phases\[0\]\.actions\[0\]\.release\.file: there is no file "\.\/camera\.apk"/,
      /:17: phases\[0\]\.actions\[1\]\.devices\.tags\.site: no group has the tag site=tokyo or kyoto; /,
      /:17: phases\[0\]\.actions\[1\]\.devices\.tags\.ring: no group has a tag "ring" in its deviceTags/,
      /:18: phases\[0\]\.actions\[1\]\.window\.timeZone: there is no time zone "Asia\/Tokio"; did you mean "Asia\/Tokyo"/,
    ].reduce((all, { source }) => new RegExp(all.source === '' ? source : `${all.source}[^]*${source}`), /^/),
  });
});

t.test('a device whose software another program installs may have a fault of any version', async (t) => {
  const groups = 'groups: [{ name: all, faults: [{ fault: fails, probability: 1, versions: [9.9.9] }] }]\n';
  t.equal(refusal(`activate: false\n${groups}${plain}`), '');
  t.match(refusal(`${groups}${plain}`), /nothing in this scenario installs version "9\.9\.9"/);
});

t.test('all faults are told at once, those of the form and those of the meaning', async (t) => {
  const message = refusal(`name: story
devices: 10
colour: red
phases:
  - name: work
    duration: 1m
    actions:
      - { do: setWifi, rate: fast }
      - { do: setApn, rate: 1/s, groups: [nobody] }
      - { do: setApn, rate: 1/s, each: 1 }
expectations: [lost == 0, losst == 0]
`);
  t.match(message, /colour: is unknown here/);
  t.match(message, /actions\[0\]\.rate: /);
  t.match(message, /actions\[1\]\.groups\[0\]: there is no group or tag "nobody"/);
  t.match(message, /actions\[2\]: needs either rate or each, and not both/);
  t.match(message, /expectations\[1\]: there is no figure "losst"/);
  t.notMatch(message, /actions\[0\]: needs either rate or each/, 'a fault that follows from another one is not told');
});
