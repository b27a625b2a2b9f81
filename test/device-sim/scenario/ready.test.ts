import t from 'tap';
import { readCommandLine } from '../../../device-sim/command-line.ts';
import { run } from '../../../device-sim/run.ts';
import { readyNames } from '../../../device-sim/scenario/ready.ts';
import { ADMIN_TOKEN, startProcess } from '../../flow/service-process.ts';

/** The small form of each scenario. Side by side they are many customers of one service. */
const SMALL: Readonly<Record<string, string>> = {
  'bad-release': '--count 20 --faster 50',
  commuter: '--count 10 --faster 60',
  'firmware-mix': '--count 10 --faster 30',
  'flaky-network': '--count 10 --faster 40',
  hostile: '--count 12 --faster 30 --seed 4',
  month: '--count 5 --faster 500',
  'reconnect-storm': '--count 50 --faster 12',
  shift: '--count 20 --faster 150',
  smoke: '--count 4 --faster 10',
};

t.test(
  'the included scenarios run all at once against one service, in a small form',
  { timeout: 90_000 },
  async (t) => {
    const { addresses } = await startProcess(t, { LAPEL_DATA_DIR: t.testdir(), LAPEL_ALLOW_HTTP_WEBHOOKS: 'true' });
    const { admin, http, mqtt } = addresses;
    const at = `--admin ${admin} --api ${http} --mqtt ${mqtt}`;
    const options = { stopped: new AbortController().signal, stream: { write: () => {} } };
    t.strictSame(Object.keys(SMALL), readyNames());

    const play = (name: string) => {
      const command = readCommandLine(`run ${name} ${SMALL[name]} ${at} --clean`.split(' '), {
        LAPEL_ADMIN_TOKEN: ADMIN_TOKEN,
      });
      if (command.do !== 'run') throw new Error(`${name} is no scenario`);
      return run(command.settings, options);
    };
    const runs = readyNames().map((name) => ({ name, played: play(name) }));
    for (const { played } of runs) played.catch(() => {}); // it is awaited below
    for (const { name, played } of runs) {
      t.test(`${name}: all its expectations hold`, { timeout: 60_000 }, async (t) => {
        const { record, gone } = await played;
        t.equal(gone, null);
        // A busy machine is not a fault of the service.
        for (const { text, phase, holds, measurable, shown, story } of record.verdicts)
          t.ok(holds || !measurable, `${text}${phase === null ? '' : ` (${phase})`}: ${shown}`, { story });
        // In so small a form some faults have no occasion.
        for (const { text, phase, holds, shown } of record.requirements.filter(
          ({ text }) => !text.startsWith('played'),
        ))
          t.ok(holds, `${text}${phase === null ? '' : ` (${phase})`}: ${shown}`);
        t.ok(record.requirements.length >= 3, 'it says what must have taken place');
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
