import { join } from 'node:path';
import t from 'tap';
import { runProgram } from '../../run-program.ts';

const TESTS = join(import.meta.dirname, '..', '..');
/** Tests of rules that hold in both versions of MQTT. Tests of bytes of 3.1.1 ask for that version themselves. */
const OF_BOTH = [
  'broker/access',
  'broker/connections',
  'broker/messages',
  'broker/waiting',
  'flow/races',
  'flow/requests',
];

for (const file of OF_BOTH)
  t.test(`${file} holds with MQTT 5, too`, async (t) => {
    const env = { ...process.env, LAPEL_TEST_MQTT: '5', LAPEL_TEST_DATABASE: 'sqlite' };
    const { status, stdout } = await runProgram(process.execPath, [join(TESTS, `${file}.test.ts`)], { env });
    t.equal(
      status,
      0,
      stdout
        .split('\n')
        .filter((line) => line.startsWith('not ok'))
        .join('\n'),
    );
  });
