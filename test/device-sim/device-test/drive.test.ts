import type { DriveSettings } from '@lapel/device-sim/device-test/drive';
import t from 'tap';
import type { Flaw, Way } from './own-device.ts';
import { brokenRules, notHeld, settingsOf, testedOwnDevice } from './tested.ts';

t.jobs = 3; // the tests mostly wait for connections

/** A drive of a few seconds, with all troubles of one of hours. */
const SHORT: DriveSettings = {
  milliseconds: 1,
  leastMoments: 24,
  betweenMs: { min: 0, max: 20 },
  slowMs: { min: 10, max: 30 },
  delay: { min: 150, max: 200 },
  bytesPerSecond: { min: 20_000, max: 100_000 },
};
const drive = (flaw?: Flaw, way: Way = {}, line = '') =>
  testedOwnDevice(`--cases login,drive ${line}`.trim(), flaw, undefined, () => ({ keepalive: 1, ...way }), SHORT);

for (const level of [undefined, 5] as const) {
  t.test(`a good device gets through a drive with MQTT ${level ?? '3.1.1'}`, async (t) => {
    const record = await drive(undefined, level && { level }, `--answer-time 10 --seed ${level ?? 1}`);
    t.strictSame(brokenRules(record), [], JSON.stringify(record.cases.filter(({ findings }) => findings.length > 0)));
    t.strictSame(notHeld(record), []);
    const { drive: figures } = record;
    for (const [name, figure] of Object.entries(figures ?? {})) t.ok(figure > 0, `${name}: ${figure}`);
    t.ok((figures?.longestAnswerMs ?? 0) > 200, 'the slow network was between the two');
    const [shown] = record.cases.filter(({ name }) => name === 'drive').map((one) => one.shown);
    t.match(
      shown,
      new RegExp(`; ${figures?.commands} commands, ${figures?.repeated} repetitions; ${figures?.cuts} cuts, `),
    );
  });
}

t.test('a device that waits in tunnels breaks the rule silence, in a drive and in the case of its own', async (t) => {
  const inDrive = await drive('waits-in-tunnels');
  t.strictSame(brokenRules(inDrive), ['silence'], JSON.stringify(inDrive.cases));
  const line = '--thorough --cases login,half-open';
  const way = () => ({ keepalive: 1 });
  t.strictSame(brokenRules(await testedOwnDevice(line, 'waits-in-tunnels', undefined, way)), ['silence']);
  t.strictSame(notHeld(await testedOwnDevice(line, undefined, undefined, way)), []);
});

t.test('a device that answers a repetition otherwise is found in a drive', async (t) => {
  const record = await drive('refuses-repetitions');
  t.strictSame(brokenRules(record), ['repeated-commands'], JSON.stringify(record.cases));
});

t.test('--hours says how long the drive is; without it there is none', async (t) => {
  t.match(settingsOf('--hours 8').drive, { milliseconds: 28_800_000, betweenMs: { min: 2000, max: 60_000 } });
  t.equal(settingsOf('').drive, null);
  t.throws(() => settingsOf('--hours 745'), /^--hours: "745" is not a number from 0.001 to 744$|--hours/);
  const { cases, drive: figures } = await testedOwnDevice('--cases login,drive');
  t.match(cases[1], { outcome: 'left out', shown: 'needs --hours' });
  t.equal(figures, null);
});
