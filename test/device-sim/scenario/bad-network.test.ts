import t from 'tap';
import { startBreakable } from './broken-service.ts';

const SCENARIO = `devices: 6
groups:
  - name: city
    share: 50 %
    clock: { wrong: 2m-3m, drift: 10s }
  - name: valley
    share: 50 %
    network: { bandwidth: 200 kB/s }
phases:
  - name: storm
    duration: 2s
    network: [{ groups: [valley], delay: 5ms-30ms, bandwidth: 60 kB/s, losses: 1/s }]
    actions:
      - { do: setWifi, each: 4 }
      - { do: pressButton, each: 2 }
      - { do: install, each: 1, within: 500ms, release: { version: 1.0.0, size: 40 kB } }
settle: 20s
expectations:
  - lost == 0
  - doubled == 0
  - unordered == 0
  - violations == 0
  - eventsLost == 0
  - { expect: "p50(delivered, group: city) < 10 s", phase: storm }
`;

const HOUR = 3_600_000;

/** Milliseconds by which a local time, in a zone of whole hours, differs from now. */
function skewOf(localTime: string): number {
  const difference = Date.parse(`${localTime.slice(0, 23)}Z`) - Date.now();
  return difference - Math.round(difference / HOUR) * HOUR;
}

t.test('a region with a bad network loses connections and nothing else', { timeout: 300_000 }, async (t) => {
  const play = await startBreakable(t);
  const skews: number[] = [];
  const record = await play(t, SCENARIO, {
    webhook({ type, timestamp }) {
      if (type === 'custom.sos') skews.push(skewOf(String(timestamp)));
    },
  });
  // A busy machine measures no latencies; what is lost or doubled is measured on each.
  for (const { text, holds, shown, story, measurable } of record.verdicts)
    if (measurable || !text.startsWith('p50(')) t.ok(holds, `${text}: ${shown}`, { story });
  const storm = record.chapters.find(({ name }) => name === 'storm');
  t.ok(Number(storm?.fleet['losses']) > 0, 'connections were lost');
  t.equal(record.chapters[0]?.figures?.succeeded, 36, 'every command succeeded, with six activations');
  const wrong = skews.filter((skew) => Math.abs(skew) > 100_000);
  t.equal(wrong.length, 6, 'two events of each device with a wrong clock');
});
