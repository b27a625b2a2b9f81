import type { RunRecord, Verdict } from '@lapel/device-sim/report/record';
import { openScenario } from '@lapel/device-sim/scenario/ready';
import t from 'tap';
import { BREAKAGES } from './breakages.ts';
import { readCommandLine } from './command-line.ts';
import { patchedFiles } from './planted-copy.ts';
import { PLAYS, type Play } from './plays.ts';
import { judge } from './verdict.ts';

t.test('the patches of each breakage fit the source of the service', async (t) => {
  for (const { name, patches } of BREAKAGES) t.ok(patchedFiles(patches).size > 0, name);
  const names = BREAKAGES.map(({ name }) => name);
  t.equal(new Set(names).size, names.length, 'each has a name of its own');
  t.ok(names.length >= 40);
});

t.test('a patch whose search text is missing or ambiguous is out of date', async (t) => {
  const patch = { file: 'main.ts', replacement: '' };
  t.throws(() => patchedFiles([{ ...patch, search: 'a text that is nowhere' }]), /out of date: .* 0 times/);
  t.throws(() => patchedFiles([{ ...patch, search: 'import' }]), /out of date: .* \d\d times/);
});

t.test('the scenario of each run is valid', async (t) => {
  for (const { scenario, beside } of Object.values<Play>(PLAYS))
    for (const one of beside === undefined ? [scenario] : [scenario, beside])
      t.doesNotThrow(() => openScenario(one), one);
});

const DEVICE = '352900130000016';
const verdict = (text: string, story: readonly string[]): Verdict => ({
  text,
  phase: null,
  holds: false,
  measurable: true,
  value: 1,
  shown: '1',
  story,
});
const simulated = (verdicts: readonly Verdict[], code = 1) => ({
  code,
  output: '',
  record: { verdicts, notRun: [] as readonly string[] } as RunRecord,
});

t.test('a fault is found if its figure is broken, and the story names a device and the cause', async (t) => {
  const wanted = { figures: ['wrong'], cause: /the wrong lang/ };
  const told = verdict('wrong == 0', [`device ${DEVICE}: it has the wrong lang`]);
  t.match(judge(wanted, simulated([told])), { found: true, text: 'wrong == 0: 1', story: /wrong lang/ });
  t.match(judge(wanted, simulated([verdict('lost == 0', told.story), told])), { found: true });
  for (const [why, run] of [
    ['all expectations hold', simulated([{ ...told, holds: true }], 0)],
    ['another figure', simulated([verdict('lost == 0', told.story)])],
    ['its story does not tell the cause', simulated([verdict('wrong == 0', [`device ${DEVICE}: no`])])],
    ['its story does not tell the cause', simulated([verdict('wrong == 0', ['it has the wrong lang'])])],
    ['not exit code 1', simulated([told], 4)],
    ['no report', { code: 2, output: 'a reason', record: null }],
  ] as const)
    t.match(judge(wanted, run), { found: false, text: new RegExp(why) });
  const ofService = verdict('stalled == 0', ['the service answered no call']);
  t.match(judge({ figures: ['stalled'], cause: /no call/, isOfDevice: false }, simulated([ofService])), {
    found: true,
  });
});

t.test('the command line names the option that is wrong', async (t) => {
  t.match(readCommandLine([], BREAKAGES), { do: 'break', jobs: 2, breakages: BREAKAGES });
  t.match(readCommandLine(['--unbroken', '20'], BREAKAGES), { do: 'unbroken', runs: 20 });
  t.equal(readCommandLine([BREAKAGES[3]!.name], BREAKAGES).breakages[0], BREAKAGES[3]);
  t.throws(() => readCommandLine(['--jobs', 'many'], BREAKAGES), /--jobs: "many" is not a whole number/);
  t.throws(() => readCommandLine(['nothing'], BREAKAGES), /there is no breakage "nothing"/);
  t.throws(() => readCommandLine(['--unbroken', '1', BREAKAGES[0]!.name], BREAKAGES), /--unbroken: plants no fault/);
  t.throws(() => readCommandLine(['--other'], BREAKAGES), /--other/);
});
