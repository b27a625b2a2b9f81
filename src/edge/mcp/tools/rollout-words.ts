import { HEALTH_MEASURES } from '@lapel/schemas/base/rollouts';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { data } from '../foreign.ts';
import type { Report } from '../report.ts';
import { time } from '../times.ts';
import { code } from './command-words.ts';

type Rollout = SchemaTypes['common/rollout'];
type Row = SchemaTypes['common/rollout-row-list']['rollouts'][number];
type Stage = Rollout['stages'][number];

const MEASURES = [...HEALTH_MEASURES, 'versionKept'] as const;

export const countsOf = (counts: Row['counts']): string =>
  Object.entries(counts)
    .filter(([, number]) => number > 0)
    .map(([name, number]) => `${number} ${name}`)
    .join(', ') || 'nothing yet';

export const rolloutLine = (row: Row): string =>
  [
    `- ${row.rolloutId} ${data(row.label, 60)} ${row.operation}${row.subject === null ? '' : ` ${data(row.subject, 100)}`}: ${row.state}${row.reason === null ? '' : ` (${data(row.reason, 60)})`}`,
    `stage ${row.stage} of ${row.stages}`,
    `${row.devices} devices: ${countsOf(row.counts)}`,
    `created ${time(row.createdAt)}`,
    row.endedAt !== null && `ended ${time(row.endedAt)}`,
  ]
    .filter(Boolean)
    .join(', ');

/** How the devices of a stage are, against those of the control group, which still wait for the release. */
function healthOf({ health, verdict }: Stage): string[] {
  const lines: string[] = [];
  if (verdict) {
    const words = MEASURES.map((name) => `${name} ${verdict.measures[name]}`).filter(
      (word) => !word.endsWith(' unknown'),
    );
    lines.push(
      `  verdict: ${verdict.succeeded} succeeded, ${verdict.failed} failed${verdict.codes.length > 0 ? ` (${verdict.codes.map(code).join(', ')})` : ''}, ${verdict.seen} seen since, ${verdict.silent} silent; ${words.join(', ') || 'no measure is known yet'}${verdict.fired.length > 0 ? `; rules that fired: ${verdict.fired.join(', ')}` : ''}`,
    );
  }
  if (health) {
    const { treated, control } = health;
    const known = MEASURES.filter((name) => treated[name] !== null || control[name] !== null);
    const compared = known.map((name) => `${name} ${treated[name] ?? '?'} against ${control[name] ?? '?'}`);
    lines.push(
      `  health at ${time(health.at)}: canary ${treated.devices} devices, control group ${control.devices}: ${compared.join(', ') || 'no measure yet'}`,
    );
  }
  return lines;
}

function stageLines(stage: Stage, at: number): string[] {
  const { continueWhen, approval, approved, approvalBy, soakEndsAt } = stage;
  const rule = continueWhen ? `, goes on at ${continueWhen.succeededPercent}% succeeded` : '';
  const by = approvalBy === 'other' ? ' by another person' : '';
  const wait = approval ? `, needs approval${by}${approved ? ' (approved)' : ''}` : '';
  const soak = soakEndsAt === null ? '' : `, soak until ${time(soakEndsAt)}`;
  return [
    `- stage ${at + 1} ${stage.state}, ${stage.planned} devices: ${countsOf(stage.counts)}${rule}${wait}${soak}`,
    ...healthOf(stage),
  ];
}

/** A rollout in the order in which people ask about it. */
export function showRollout(rollout: Rollout, console: string, report: Report): void {
  const { inWork, abortRule, endWaitsFor } = rollout;
  const subject = rollout.subject === null ? '' : ` ${data(rollout.subject, 100)}`;
  report.say(
    `Rollout ${rollout.rolloutId} ${data(rollout.label, 80)}: ${rollout.operation}${subject} is ${rollout.state}${rollout.reason === null ? '' : `, because ${data(rollout.reason, 80)}`}, in stage ${rollout.stage} of ${rollout.stages.length}.`,
    `${rollout.devices} devices: ${countsOf(rollout.counts)}. In work: ${inWork.installing} have the command, ${inWork.switchedOff} are switched off, ${inWork.queued} wait for it.`,
    `Created ${time(rollout.createdAt)}, started ${time(rollout.startedAt)}, ended ${time(rollout.endedAt)}, estimated end ${rollout.estimatedEnd === null ? 'unknown' : time(rollout.estimatedEnd)}${endWaitsFor === null ? '' : `; it waits for: ${endWaitsFor}`}.`,
    `It permits: ${rollout.permits.join(', ') || 'nothing more'}.`,
    abortRule &&
      `Stop rule: ${abortRule.failures} failures of ${abortRule.results} results; stops at ${abortRule.stopsAt ?? 'no reachable number of'} failures.`,
    `Console: ${console}`,
    ...rollout.stages.flatMap(stageLines),
  );
  for (const { rule, treated, control, stopsAt } of rollout.healthRules) {
    report.say(
      `- health rule ${rule.measure}: canary ${treated.value ?? 'unknown'} (${treated.devices} devices) against control group ${control.value ?? 'unknown'} (${control.devices} devices), stops at ${stopsAt ?? 'unknown'}`,
    );
  }
  for (const { state, code: name, devices, examples } of rollout.errors.slice(0, 12)) {
    report.row(`- ${devices} ${state} with ${code(name)}, such as ${examples.join(' ')}`);
  }
  report.say(rollout.history.length > 0 && 'History, the newest first:');
  for (const { at, event, stage, by, person, reason } of rollout.history.slice(0, 20)) {
    const why = reason === null ? '' : `, ${data(reason, 60)}`;
    const who = person === null ? by : `${by} (${data(person, 60)})`;
    if (!report.row(`- ${time(at)} ${event}${stage === null ? '' : ` stage ${stage}`} by ${who}${why}`)) break;
  }
}
