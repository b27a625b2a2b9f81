import { plainText } from '../plain-text.ts';
import * as show from '../show.ts';
import { violationsIn } from './figure-names.ts';
import type { Chapter, RunRecord, Verdict } from './record.ts';
import { rolloutText } from './rollout-text.ts';
import { holdsOf, latencyOf, programsText, total } from './summary.ts';

/** The counts as text, the highest first: `VERSION_NAME_MISMATCH 12, STORAGE_FULL 3`. */
const listed = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, count]) => `${name} ${show.count(count)}`)
    .join(', ');

const inParentheses = (text: string): string => (text === '' ? '' : ` (${text})`);

function fleetRows(whole: Chapter, { memory, own }: RunRecord): [string, string][] {
  const { fleet } = whole;
  const of = (name: string): number => fleet[name] ?? 0;
  const n = (name: string): string => show.count(of(name));
  const each = of('memoryPerDevice');
  const pace = of('connectRate') > 0 ? `; at the start ${n('connectRate')} a second` : '';
  const rows: [string, string][] = [
    ['Devices', `${n('devices')}: ${n('activated')} activated, ${n('connected')} connected at the end`],
    [
      'Connections',
      `${n('connections')} made${pace}; ${n('losses')} ended unexpectedly, ${n('failedOpenings')} failed at the login, ${n('connectFailures')} given up`,
    ],
    ['Memory', `${show.bytes(memory.end)} at the end${each > 0 ? `; each device takes ${show.bytes(each)}` : ''}`],
    [
      'Commands',
      `${n('commands')} reached devices, ${n('repetitions')} of them repetitions; ${n('answers')} answers sent`,
    ],
  ];
  if (of('downloads') > 0) {
    const ways = `${n('resumed')} resumed after a cut, ${n('renewed')} needed a fresh URL`;
    rows.push(['Downloads', `${n('downloads')} ended (${show.bytes(of('downloadedBytes'))}); ${ways}`]);
  }
  if (of('uploads') + of('uploadFailures') + of('unwanted') > 0) {
    const rest = `${n('uploadFailures')} given up, ${n('unwanted')} got no upload URL`;
    rows.push(['Uploads', `${n('uploads')} arrived (${show.bytes(of('uploadedBytes'))}); ${rest}`]);
  }
  rows.push([
    'Contract',
    `${show.count(violationsIn(whole) ?? 0)} breaches by the service; it reported faults in ${n('complaints')} messages`,
  ]);
  rows.push([
    'Simulator',
    `stood still for ${show.duration(own.standstill)}; its event loop was late by ${show.duration(own.loopDelay)} at most, its actions by ${show.duration(own.behind)}`,
  ]);
  return rows;
}

function customerRows(whole: Chapter): [string, string][] {
  const { figures, fleet } = whole;
  if (!figures) return [];
  const { requests, accepted, carriedOut, errors, postponed, succeeded, failed, cancelled, unfinished } = figures;
  const refused = Object.values(figures.refused).reduce((sum, count) => sum + count, 0);
  const results = succeeded + failed + cancelled;
  const reads = carriedOut > 0 ? `, ${show.count(carriedOut)} answered without a transaction` : '';
  const failures = errors > 0 ? `; ${show.count(errors)} attempts without an answer or 5xx` : '';
  const waits = postponed > 0 ? `; ${show.count(postponed)} waits because of 429` : '';
  const skipped = fleet['skipped']
    ? `; ${show.count(fleet['skipped'])} never begun, because the service was too slow`
    : '';
  const codes = inParentheses(listed(figures.failures));
  const toDevice = latencyOf(whole, 'delivered');
  const settled = latencyOf(whole, 'settled');
  const rows: [string, string][] = [
    [
      'Calls',
      `${show.count(requests)} made: ${show.count(accepted)} accepted (201)${reads}, ${show.count(refused)} refused${inParentheses(listed(figures.refused))}${failures}${waits}${skipped}`,
    ],
    [
      'Results',
      `${show.count(results)} of ${show.count(accepted)}: ${show.count(succeeded)} succeeded, ${show.count(failed)} failed${codes}, ${show.count(cancelled)} cancelled`,
    ],
    ['Unfinished', `${show.count(unfinished)}: the device is offline, or has not answered`],
    [
      'Promises',
      `${show.count(figures.lost)} lost, ${show.count(figures.doubled)} doubled, ${show.count(figures.late)} late, ${show.count(figures.unordered)} in the wrong order, ${show.count(figures.forged)} forged, ${show.count(figures.reused)} ids used twice`,
    ],
  ];
  if (toDevice && settled) {
    const pair = ({ p50, p99 }: typeof toDevice): string =>
      `median ${show.duration(p50)}, 99 % within ${show.duration(p99)}`;
    rows.push(['Latency', `from the call to the device: ${pair(toDevice)}; to the result: ${pair(settled)}`]);
  }
  if (figures.eventsTold > 0) {
    const rest = `${show.count(figures.eventsLost)} lost, ${show.count(figures.eventsDoubled)} doubled`;
    rows.push([
      'Events',
      `${show.count(figures.eventsReceived)} of ${show.count(figures.eventsTold)} received; ${rest}`,
    ]);
  }
  const programs = programsText(figures);
  if (programs !== undefined) rows.push(['Programs', programs]);
  return rows;
}

function verdictLines({ text, phase, holds, measurable, shown, story }: Verdict): string[] {
  const about = phase === null ? '' : ` (${phase})`;
  return [
    `  ${holds ? 'ok    ' : measurable ? 'NOT OK' : '?     '}  ${text}${about}: ${shown}`,
    ...story.map((line) => `            ${plainText(line)}`),
  ];
}

/** The table that a run prints at its end. Each line can be understood alone. */
export function closingTable(record: RunRecord): string {
  const { scenario, run, seed, milliseconds, verdicts, troubles, troublesNotShown, interrupted } = record;
  const { held, all } = holdsOf(record);
  const outcome = all === 0 ? 'no expectations' : `${held} of ${all} expectations hold`;
  const { notRun } = record;
  const name = run === scenario ? scenario : `${scenario} (run ${run})`;
  const head = `${name}: ${notRun.length > 0 ? 'NOT RUN; ' : ''}${outcome}, ${show.clock(milliseconds)}, seed ${seed}${interrupted ? ', ended early' : ''}`;
  const whole = total(record);
  const rows = [...fleetRows(whole, record), ...customerRows(whole)];
  for (const rollout of record.rollouts ?? []) rows.push(['Rollout', plainText(rolloutText(rollout))]);
  if (Object.keys(record.faults).length > 0) rows.push(['Faults', listed(record.faults)]);
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = [head, '', ...rows.map(([label, text]) => `  ${label.padEnd(width)}  ${text}`)];
  if (notRun.length > 0) lines.push('', ...notRun.map((reason) => `  NOT RUN  ${plainText(reason)}`));
  if (all > 0) lines.push('', ...[...verdicts].sort((a, b) => Number(b.holds) - Number(a.holds)).flatMap(verdictLines));
  if (troubles.length > 0) lines.push('', ...troubles.map((text) => `  ! ${plainText(text)}`));
  if (troublesNotShown > 0) lines.push(`  ! and ${show.count(troublesNotShown)} more`);
  return `${lines.join('\n')}\n`;
}
