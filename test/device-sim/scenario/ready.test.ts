import { readCommandLine } from '@lapel/device-sim/command-line';
import { run } from '@lapel/device-sim/run';
import { readyNames } from '@lapel/device-sim/scenario/ready';
import t from 'tap';
import { ADMIN_TOKEN, startProcess } from '../../flow/service-process.ts';

/** The small form of each scenario. Side by side they are many customers of one service. */
const SMALL: Readonly<Record<string, string>> = {
  'bad-release': '--count 10 --faster 20',
  campaign: '--count 10 --faster 30',
  canary: '--count 50 --faster 20',
  commuter: '--count 6 --faster 20',
  endpoints: '--count 6 --faster 2',
  'firmware-mix': '--count 6 --faster 10',
  'flaky-network': '--count 6 --faster 30',
  hostile: '--count 12 --faster 20 --seed 4',
  month: '--count 4 --faster 250',
  'reconnect-storm': '--count 25 --faster 8',
  shift: '--count 20 --faster 80',
  smoke: '--count 3 --faster 5',
  turnover: '--count 8 --faster 14',
};

/**
 * Other tests play these: service-faults.test.ts the one that makes the service itself fail, and test/simulation those whose
 * times nobody can shorten.
 */
const ELSEWHERE = ['outage', 'promises', 'hours'];

/** A run whose own process stood still for so long may have missed times of its scenario. */
const STOOD_STILL_MS = 300;

/** Promises of the service that hold at any speed. All other figures depend on the speed of the machine as well. */
const AT_ANY_SPEED =
  /^(lost|eventsLost|wrong|unaccounted|doubled|eventsDoubled|unordered|forged|reused|violations|overshoot|order|gaps)\b/;

const isGood = ({ holds, measurable }: { holds: boolean; measurable: boolean }): boolean => holds || !measurable;

/** The scenarios run with few devices, so some faults get no occasion and their `played` does not hold. */
const isRequired = ({ text }: { text: string }): boolean => !text.startsWith('played');

t.setTimeout(300_000);

t.test(
  'the included scenarios run side by side against one service, in a small form',
  { timeout: 280_000 },
  async (t) => {
    const { addresses } = await startProcess(t, { LAPEL_DATA_DIR: t.testdir(), LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' });
    const { admin, http, mqtt } = addresses;
    const at = `--admin ${admin} --api ${http} --mqtt ${mqtt}`;
    const options = { stopped: new AbortController().signal, stream: { write: () => {} } };
    t.strictSame([...Object.keys(SMALL), ...ELSEWHERE].sort(), readyNames());

    const play = (name: string, slower = 1) => {
      const [, count = '', faster = '1', rest = ''] = /^(.*--faster) (\d+)(.*)$/.exec(SMALL[name] ?? '') ?? [];
      const line = `run ${name} ${count} ${Math.max(1, Math.round(Number(faster) / slower))}${rest} ${at} --clean`;
      const command = readCommandLine(line.split(' '), { LAPEL_ADMIN_TOKEN: ADMIN_TOKEN });
      if (command.do !== 'run') throw new Error(`${name} is no scenario`);
      return run(command.settings, options);
    };
    // A service that loads and compiles its code stands still for some time, which no scenario allows. The smallest one
    // makes it do that first.
    const first = play('smoke');
    await first.catch(() => undefined); // it is awaited below
    const runs = Object.keys(SMALL).map((name) => ({ name, played: name === 'smoke' ? first : play(name) }));
    for (const { played } of runs) played.catch(() => {}); // it is awaited below
    for (const { name, played } of runs) {
      t.test(`${name}: all its expectations hold`, { timeout: 200_000 }, async (t) => {
        let { record, gone } = await played;
        // A busy machine is not a fault of the service: a run that missed a figure is played again, then slower. A
        // fault of the service shows again.
        for (const slower of [1, 4]) {
          const requirements = record.requirements.filter((one) => isRequired(one) && !one.holds);
          const bad = [...record.verdicts.filter((verdict) => !isGood(verdict)), ...requirements];
          const isOfTime = bad.every(({ text }) => !AT_ANY_SPEED.test(text));
          if (bad.length === 0 || !(isOfTime || record.own.standstill >= STOOD_STILL_MS)) break;
          t.comment(
            `it is played again, ${slower} times slower: ${bad.map(({ text, shown }) => `${text}: ${shown}`).join('; ')}`,
          );
          ({ record, gone } = await play(name, slower));
        }
        t.equal(gone, null);
        for (const verdict of record.verdicts) {
          const { text, phase, shown, story } = verdict;
          t.ok(isGood(verdict), `${text}${phase === null ? '' : ` (${phase})`}: ${shown}`, { story });
        }
        for (const { text, phase, holds, shown } of record.requirements.filter(isRequired))
          t.ok(holds, `${text}${phase === null ? '' : ` (${phase})`}: ${shown}`);
        t.ok(record.requirements.length >= 3, 'it says what must have taken place');
        for (const check of ['service-answers', 'service-halts', 'service-memory'])
          t.ok((record.looks?.[check] ?? 0) > 0, `the check ${check} has looked`);
        const figures = record.chapters[0]?.figures;
        t.ok(figures && figures.succeeded > 0, 'something was asked for, and done');
      });
    }

    t.test('they have removed their devices and applications', async (t) => {
      for (const list of ['devices', 'applications']) {
        const reply = await fetch(`${admin}/admin/v1/developers/simulated/${list}`, {
          headers: { authorization: `Bearer ${ADMIN_TOKEN}` },
        });
        t.strictSame(((await reply.json()) as Record<string, unknown>)[list], []);
      }
    });
  },
);
