import { plainText } from '../plain-text.ts';
import { verdictLines, wordOf } from '../report/verdict-lines.ts';
import { clock, duration } from '../show.ts';
import type { KindRecord, TrialRecord } from './trial-record.ts';

const timesOf = ({ median, p99 }: KindRecord): string =>
  median === null || p99 === null ? '' : `median ${duration(median)}, 99 %: ${duration(p99)}`;

/** The result of a test of a customer's receiver, for people. */
export function trialText({ forward, seed, milliseconds, kinds, verdicts, notRun }: TrialRecord): string {
  const good = verdicts.filter(({ holds }) => holds).length;
  const state = notRun.length > 0 ? 'NOT RUN: ' : '';
  const rows = verdicts.map((verdict) => {
    const kind = kinds.find((one) => verdict.text.startsWith(`${one.kind}:`));
    const { text, shown, story } = verdict;
    return { cells: [wordOf(verdict), text, shown, kind ? timesOf(kind) : ''], story };
  });
  return [
    `${state}the receiver at ${plainText(forward)}: ${good} of ${verdicts.length} expectations hold, ${clock(milliseconds)}, seed ${seed}`,
    '',
    ...verdictLines(rows),
    ...notRun.map((reason) => `  NOT RUN  ${plainText(reason)}`),
    '',
  ].join('\n');
}
