import { plainText } from '../plain-text.ts';
import { verdictLines } from '../report/verdict-lines.ts';
import { clock } from '../show.ts';
import { type CaseRecord, type DeviceTestRecord, verdictsOf } from './device-test-record.ts';

const WORDS: Readonly<Record<CaseRecord['outcome'], string>> = {
  holds: 'OK',
  broken: 'NOT OK',
  'left out': 'left out',
  'not run': 'NOT RUN',
};

/** The result of a test of a device, for people. */
export function deviceTestText({ deviceId, seed, milliseconds, cases, verdicts, notRun }: DeviceTestRecord): string {
  const good = verdicts.filter(({ holds }) => holds).length;
  const state = notRun.length > 0 ? 'NOT RUN: ' : '';
  const rows = cases.map((one) => {
    const [verdict] = verdictsOf(one);
    const shown = plainText(verdict?.shown ?? one.shown);
    return { cells: [WORDS[one.outcome], one.name, shown], story: verdict?.story ?? [] };
  });
  return [
    `${state}the device ${deviceId}: ${good} of ${verdicts.length} cases hold, ${clock(milliseconds)}, seed ${seed}`,
    '',
    ...verdictLines(rows),
    '',
  ].join('\n');
}
