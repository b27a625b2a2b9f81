import { plainText } from '../plain-text.ts';
import type { RunRecord, Verdict } from './record.ts';
import { rolloutText } from './rollout-text.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** Characters that XML 1.0 cannot contain (section 2.2) are made visible. */
const xml = (text: string): string => plainText(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);

function testCase({ text, phase, holds, measurable, shown, story }: Verdict, suite: string): string {
  const name = phase === null ? text : `${text} (${phase})`;
  const open = `    <testcase classname="${xml(suite)}" name="${xml(name)}" time="0"`;
  if (holds) return `${open}/>`;
  if (!measurable) return `${open}>\n      <skipped message="${xml(shown)}"/>\n    </testcase>`;
  const lines = [`expected ${text}, found ${shown}`, ...story].map(xml).join('\n');
  return `${open}>\n      <failure message="${xml(`found ${shown}`)}">${lines}</failure>\n    </testcase>`;
}

/** The test case of a run that is NOT RUN: an error, which is neither a failure of the service nor a success. */
const notRunCase = (suite: string, reasons: readonly string[]): string =>
  `    <testcase classname="${xml(suite)}" name="it has taken place" time="0">\n      <error message="NOT RUN">${reasons.map(xml).join('\n')}</error>\n    </testcase>`;

/**
 * Writes a report as JUnit XML, which every CI can show: one test for each expectation, and one test that has an error
 * if the run did not take place. The output of the suite has a line for each rollout.
 */
export function junitReport({
  scenario,
  verdicts,
  notRun,
  startedAt,
  milliseconds,
  rollouts = [],
}: Pick<RunRecord, 'scenario' | 'verdicts' | 'notRun' | 'startedAt' | 'milliseconds' | 'rollouts'>): string {
  const failures = verdicts.filter(({ holds, measurable }) => !holds && measurable).length;
  const skipped = verdicts.filter(({ measurable }) => !measurable).length;
  const errors = notRun.length > 0 ? 1 : 0;
  const cases = [
    ...(errors > 0 ? [notRunCase(scenario, notRun)] : []),
    ...verdicts.map((verdict) => testCase(verdict, scenario)),
  ];
  const counts = `tests="${cases.length}" failures="${failures}" errors="${errors}" skipped="${skipped}" time="${seconds(milliseconds)}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts.replace(/ skipped="\d+"/, '')}>`,
    `  <testsuite name="${xml(scenario)}" ${counts} timestamp="${xml(startedAt.replace(/\..*$/, ''))}">`,
    ...cases,
    ...(rollouts.length > 0
      ? [`    <system-out>${rollouts.map((one) => xml(rolloutText(one))).join('\n')}</system-out>`]
      : []),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}
