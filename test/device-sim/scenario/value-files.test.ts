import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readScenarioFile } from '@lapel/device-sim/scenario/read-scenario';
import t, { type Test } from 'tap';
import { simulateHere } from '../simulate-here.ts';
import { startBreakable } from './broken-service.ts';

const WIFI = 'setWifi';
const written = (doing: string, more = 'each: 1') => `name: values
devices: 3
phases:
  - { name: work, duration: 2s, actions: [{ do: ${doing}, ${more}, values: list.csv }] }
`;

/** The message of `lapel-sim check` for an action with a file; without `csv` there is none. */
async function checked(t: Test, doing: string, csv: string | undefined, more?: string): Promise<string> {
  const folder = t.testdir({ 'story.yaml': written(doing, more), ...(csv !== undefined && { 'list.csv': csv }) });
  const { stdout, stderr } = await simulateHere(['check', join(folder, 'story.yaml')]);
  return stdout + stderr;
}

for (const [what, doing, csv, message] of [
  ['is missing', WIFI, undefined, /there is no file "list\.csv"/],
  ['is empty', WIFI, '', /list\.csv is empty/],
  ['has only a header', WIFI, 'ssid,password\n', /list\.csv has no row below its header/],
  [
    'lacks a column',
    WIFI,
    'name,password\na,b\n',
    /has no column "ssid", which setWifi needs; it has "name", "password"/,
  ],
  ['lacks a value', 'setApn', 'name,apn,mcc,mnc\na,b,1,2\na,,1,2\n', /has no apn in row 2 below its header/],
  ['has a row that is too short', 'setLanguage', 'lang,x\nde\n', /list\.csv is no CSV: Invalid Record Length/],
  ['is too large', WIFI, `ssid\n${'x'.repeat(4 * 1024 * 1024)}`, /list\.csv is too large: it has \d+ characters/],
  ['has too many rows', 'setLanguage', `lang\n${'de\n'.repeat(100_001)}`, /too many rows: 100001, and at most 100000/],
  ['belongs to no setting', 'readStatus', 'x\n1\n', /can be given only for setWifi, setApn, setLanguage/],
] as const) {
  t.test(`a file with values that ${what} is named by its action and its line`, async (t) => {
    const told = await checked(t, doing, csv);
    t.match(told, /story\.yaml:4: phases\[0\]\.actions\[0\]\.values: /);
    t.match(told, message);
  });
}

t.test('a rollout takes no values of a file', async (t) => {
  const told = await checked(t, 'rollout', 'lang\nde\n', 'operation: setLanguage, parameters: { lang: de }');
  t.match(told, /phases\[0\]\.actions\[0\]\.values: cannot be given for rollout/);
});

t.test('each device gets the values of its row, with Unicode, quotes and columns that say nothing', async (t) => {
  const csv = '\ufeffdepot,ssid,password,security\n1,"a ""quoted"", name",secret-1,\n2,駅,geheim-22,WPA3\n';
  const folder = t.testdir({ 'story.yaml': written(WIFI), 'list.csv': csv });
  const { scenario } = readScenarioFile(join(folder, 'story.yaml'));
  t.same(scenario.phases[0]?.actions[0]?.values, [
    { depot: '1', ssid: 'a "quoted", name', password: 'secret-1', security: '' },
    { depot: '2', ssid: '駅', password: 'geheim-22', security: 'WPA3' },
  ]);
});

t.test('the values of a file come to the devices', { timeout: 300_000 }, async (t) => {
  const play = await startBreakable(t);
  const folder = t.testdir();
  const apns = 'name,apn,mcc,mnc,authType\nA,a.example,440,10,1\nB,b.example,441,11,\n';
  const files = {
    'wifi.csv': 'ssid,password\nfirst,secret-1\nsecond,secret-2\n',
    'apn.csv': apns,
    'lang.csv': 'lang\nde\nfr\n',
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const came: unknown[] = [];
  const record = await play(
    t,
    `devices: 3
phases:
  - name: work
    untilIdle: 1s
    duration: 20s
    actions:
      - { do: setWifi, each: 1, within: 200ms, values: ${join(folder, 'wifi.csv')} }
      - { do: setApn, each: 1, within: 200ms, values: ${join(folder, 'apn.csv')} }
      - { do: setLanguage, each: 1, within: 200ms, values: ${join(folder, 'lang.csv')} }
expectations: [lost == 0, wrong == 0, refused == 0, succeeded == 12]
`,
    {
      mqtt(publish) {
        const text = publish.payload.toString();
        if (publish.topic.endsWith('/commands')) came.push(JSON.parse(text).parameters);
        return [publish];
      },
    },
  );
  for (const { text, holds, shown, story } of record.verdicts) t.ok(holds, `${text}: ${shown}`, { story });
  const wanted = [
    ...['first', 'second', 'first'].map((ssid, at) => ({
      networks: [{ ssid, security: 'WPA2', password: `secret-${(at % 2) + 1}` }],
    })),
    ...['A', 'B', 'A'].map((name) => ({
      apns: [
        name === 'A'
          ? { name, apn: 'a.example', mcc: '440', mnc: '10', authType: 1 }
          : { name, apn: 'b.example', mcc: '441', mnc: '11' },
      ],
    })),
    ...['de', 'fr', 'de'].map((lang) => ({ lang })),
  ];
  const same = (list: readonly unknown[], one: unknown): number =>
    list.filter((other) => isDeepStrictEqual(other, one)).length;
  for (const one of wanted) t.equal(same(came, one), same(wanted, one), JSON.stringify(one));
});
