import type { RunRecord, Verdict } from '../report/record.ts';

type Outcome = Pick<RunRecord, 'verdicts' | 'requirements' | 'notRun' | 'interrupted'>;

const told = ({ text, phase, shown }: Verdict): string =>
  `${text}${phase === null ? '' : ` (${phase})`} is required: ${shown}`;

/**
 * Decides whether a run took place; `notRun` has the reasons why it did not: a condition of `takesPlace` was not met,
 * or an expectation could not be measured.
 */
export function outcomeOf({ verdicts, requirements, interrupted }: Omit<Outcome, 'notRun'>): Outcome {
  const notRun = [
    ...(interrupted && requirements.length > 0 ? ['it was ended before its time'] : []),
    ...requirements.filter(({ holds }) => !holds).map(told),
    ...verdicts.filter(({ measurable }) => !measurable).map(({ text, shown }) => `${text}: ${shown}`),
  ];
  return { verdicts, requirements, notRun, interrupted };
}
