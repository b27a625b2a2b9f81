import { plainText } from '../plain-text.ts';
import type { RunRecord, Verdict } from './record.ts';

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** What XML 1.0 cannot say at all (section 2.2) is shown as what it is. */
const xml = (text: string): string => plainText(text).replace(/[&<>"]/g, (character) => ENTITIES[character] ?? '');
const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);

function testCase({ text, phase, holds, shown, story }: Verdict, suite: string): string {
  const name = phase === null ? text : `${text} (${phase})`;
  const open = `    <testcase classname="${xml(suite)}" name="${xml(name)}" time="0"`;
  if (holds) return `${open}/>`;
  const lines = [`expected ${text}, found ${shown}`, ...story].map(xml).join('\n');
  return `${open}>\n      <failure message="${xml(`found ${shown}`)}">${lines}</failure>\n    </testcase>`;
}

/** A report as JUnit XML, which every CI shows: a test for each expectation. */
export function junitReport({ scenario, verdicts, startedAt, milliseconds }: RunRecord): string {
  const failures = verdicts.filter(({ holds }) => !holds).length;
  const counts = `tests="${verdicts.length}" failures="${failures}" errors="0" time="${seconds(milliseconds)}"`;
  const cases = verdicts.map((verdict) => testCase(verdict, scenario));
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="${xml(scenario)}" ${counts} timestamp="${xml(startedAt.replace(/\..*$/, ''))}">`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}
