import { plainText } from '../plain-text.ts';
import { clock, duration } from '../show.ts';
import type { KindRecord, TrialRecord } from './trial-record.ts';

const timesOf = ({ median, p99 }: KindRecord): string =>
  median === null || p99 === null ? '' : `median ${duration(median)}, 99 %: ${duration(p99)}`;

const wordOf = ({ holds, measurable }: { holds: boolean; measurable: boolean }): string =>
  holds ? 'OK' : measurable ? 'NOT OK' : 'not measurable';

/** The result of a test of a customer's receiver, for people. */
export function trialText({ forward, seed, milliseconds, kinds, verdicts, notRun }: TrialRecord): string {
  const good = verdicts.filter(({ holds }) => holds).length;
  const state = notRun.length > 0 ? 'NOT RUN: ' : '';
  const rows = verdicts.map((verdict) => {
    const kind = kinds.find((one) => verdict.text.startsWith(`${one.kind}:`));
    return [wordOf(verdict), verdict.text, verdict.shown, kind ? timesOf(kind) : '', verdict.story] as const;
  });
  const widthOf = (column: 0 | 1 | 2): number => Math.max(0, ...rows.map((row) => row[column].length));
  const [first, second, third] = [widthOf(0), widthOf(1), widthOf(2)];
  const lines = rows.flatMap(([word, text, shown, times, story]) => [
    `  ${word.padEnd(first)}  ${text.padEnd(second)}  ${shown.padEnd(third)}  ${times}`.trimEnd(),
    ...story.map((line) => `            ${plainText(line)}`),
  ]);
  return [
    `${state}the receiver at ${plainText(forward)}: ${good} of ${verdicts.length} expectations hold, ${clock(milliseconds)}, seed ${seed}`,
    '',
    ...lines,
    ...notRun.map((reason) => `  NOT RUN  ${plainText(reason)}`),
    '',
  ].join('\n');
}
