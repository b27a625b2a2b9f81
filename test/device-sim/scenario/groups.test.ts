import type { IPublishPacket } from 'mqtt-packet';
import t from 'tap';
import { startBreakable } from './broken-service.ts';

const SCENARIO = `devices: 6
groups: [{ name: well }, { name: ill, count: 2, faults: [{ fault: fails, probability: 1, operations: [setWifi] }] }]
phases: [{ name: work, duration: 400ms, actions: [{ do: setWifi, each: 2 }, { do: setLanguage, each: 1 }] }]
settle: 5s
expectations:
  - "succeeded(group: well) == 100 %"
  - "succeeded(group: ill) == 100 %"
  - "succeeded(group: ill, action: setLanguage) == 100 %"
  - "accepted(action: setWifi) == 12"
  - { expect: "failed(INTERNAL, action: setWifi) == 4", phase: work }
  - "max(delivered, group: well) < 20 s"
  - "wrong(group: well) == 0"
`;

t.test('the figures of groups and actions', { timeout: 300_000 }, async (t) => {
  const play = await startBreakable(t);

  t.test('a group that fails does not count for the others, and its story is of its own device', async (t) => {
    const { verdicts, chapters } = await play(t, SCENARIO, {});
    const good = verdicts.filter(({ holds }) => holds).map(({ text }) => text);
    const bad = verdicts.filter(({ holds }) => !holds);
    t.same(
      bad.map(({ text, shown }) => [text, shown]),
      [['succeeded(group: ill) == 100 %', '50 %']],
      'two of four calls and the activation: 4 of 8 transactions',
    );
    t.match(bad[0]?.story.join('\n'), /failed INTERNAL/);
    t.ok(good.includes('succeeded(group: well) == 100 %'));
    const [whole] = chapters;
    const { accepted = 0 } = whole?.figures ?? {};
    const parts = ['group: well', 'group: ill'].map((name) => whole?.scopes?.[name]?.accepted ?? 0);
    t.equal(parts[0]! + parts[1]!, accepted, 'the groups together are the run');
  });

  t.test('a command that the service never sends is a fault of its group alone', async (t) => {
    let silenced = '';
    const mqtt = (publish: IPublishPacket): IPublishPacket[] => {
      if (!publish.payload.toString().includes('"operation":"setLanguage"')) return [publish];
      silenced ||= publish.topic;
      return publish.topic === silenced ? [] : [publish];
    };
    const both = 'expectations: ["delivered(group: well) == 100 %", "delivered(group: ill) == 100 %"]';
    const { verdicts } = await play(t, SCENARIO.replace(/settle: 5s[\s\S]*/, `settle: 1s\n${both}\n`), { mqtt });
    const bad = verdicts.filter(({ text, holds }) => text.startsWith('delivered') && !holds);
    t.equal(bad.length, 1);
    t.match(bad[0]?.story.join('\n'), silenced.split('/')[1]);
  });
});
