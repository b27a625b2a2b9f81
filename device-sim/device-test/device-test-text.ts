import { plainText } from '../plain-text.ts';
import { verdictLines } from '../report/verdict-lines.ts';
import { clock } from '../show.ts';
import { type CaseRecord, type DeviceTestRecord, shownConnection, verdictsOf } from './device-test-record.ts';

const WORDS: Readonly<Record<CaseRecord['outcome'], string>> = {
  holds: 'OK',
  broken: 'NOT OK',
  'left out': 'left out',
  'not run': 'NOT RUN',
};

/** The result of a test of a device, for people. */
export function deviceTestText(record: DeviceTestRecord): string {
  const { deviceId, seed, milliseconds, cases, verdicts, notRun } = record;
  const good = verdicts.filter(({ holds }) => holds).length;
  const state = notRun.length > 0 ? 'NOT RUN: ' : '';
  const rows = cases.map((one) => {
    const [verdict] = verdictsOf(one);
    const shown = plainText(verdict?.shown ?? one.shown);
    return { cells: [WORDS[one.outcome], one.name, shown], story: verdict?.story ?? [] };
  });
  const connection = shownConnection(record);
  return [
    `${state}the device ${deviceId}: ${good} of ${verdicts.length} cases hold, ${clock(milliseconds)}, seed ${seed}`,
    ...(connection === null ? [] : [`connected by ${connection}`]),
    '',
    ...verdictLines(rows),
    '',
  ].join('\n');
}
