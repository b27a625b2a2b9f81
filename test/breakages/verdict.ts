import type { Verdict } from '@lapel/device-sim/report/record';
import type { Breakage } from './breakage.ts';
import type { Simulated } from './simulate.ts';

/** The exit code of a run in which an expectation does not hold. */
const DOES_NOT_HOLD = 1;
/** Every id of a device has 15 digits. */
const DEVICE = /\b\d{15}\b/;

/** Whether a run has found the fault of a breakage. */
export interface Judged {
  readonly found: boolean;
  /** The expectation that shows the fault; without it the reason why the fault was not found. */
  readonly text: string;
  /** The first line of its story. */
  readonly story: string;
}

const isAbout = ({ text }: Verdict, figure: string): boolean => new RegExp(`\\b${figure}\\b`).test(text);
const titleOf = ({ text, phase, shown }: Verdict): string => `${text}${phase === null ? '' : ` (${phase})`}: ${shown}`;

/**
 * Looks for an expectation about one of the breakage's figures that does not hold, and whose story names a device and
 * the cause.
 */
export function judge(
  { figures, cause, isOfDevice = true }: Pick<Breakage, 'figures' | 'cause' | 'isOfDevice'>,
  { code, record, output }: Simulated,
): Judged {
  const missed = (text: string, story = ''): Judged => ({ found: false, text, story });
  if (!record) return missed(`no report, exit code ${code}`, output.trim().split('\n').slice(-3).join(' '));
  const broken = record.verdicts.filter(({ holds, measurable }) => !holds && measurable);
  const named = broken.filter((verdict) => figures.some((figure) => isAbout(verdict, figure)));
  const tells = ({ story }: Verdict): boolean =>
    cause.test(story.join('\n')) && (!isOfDevice || DEVICE.test(story.join('\n')));
  const shown = named.find(tells);
  if (shown && code === DOES_NOT_HOLD) return { found: true, text: titleOf(shown), story: causeIn(shown.story, cause) };
  const reasons = record.notRun.length > 0 ? `; NOT RUN: ${record.notRun.join('; ')}` : '';
  const [first] = named.length > 0 ? named : broken;
  if (!first) return missed(`all expectations hold, exit code ${code}${reasons}`);
  const why = shown ? 'not exit code 1' : named.length > 0 ? 'its story does not tell the cause' : 'another figure';
  return missed(`${titleOf(first)} (${why}), exit code ${code}${reasons}`, first.story[0]);
}

/** The line of a story that tells the cause. */
const causeIn = (lines: readonly string[], cause: RegExp): string =>
  (lines.find((line) => cause.test(line)) ?? lines[0] ?? '').trim();
