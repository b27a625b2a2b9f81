import { plainText } from '../plain-text.ts';
import * as show from '../show.ts';
import type { Chapter, Latencies, Sample } from './record.ts';
import { latencyOf } from './summary.ts';

/** The present state of a run, for the display during it. */
export interface Standing {
  readonly scenario: string;
  readonly milliseconds: number;
  readonly phase: {
    readonly name: string;
    readonly round: number;
    readonly since: number;
    readonly duration: number | null;
  };
  /** How often all phases are played. */
  readonly rounds: number;
  /** The figures of the whole run so far. */
  readonly whole: Chapter;
  /** The sample of the last second, if there is one. */
  readonly sample: Sample | undefined;
  readonly faults: number;
  readonly expectations: readonly {
    readonly text: string;
    readonly phase: string | null;
    readonly holds: boolean;
    readonly shown: string;
  }[];
}

const BAR = 24;

/** `[##########--------------]`, for a phase with a duration. */
function bar(done: number): string {
  const full = Math.round(BAR * Math.min(1, done));
  return `[${'#'.repeat(full)}${'-'.repeat(BAR - full)}]`;
}

function phaseLine({ scenario, phase, milliseconds, rounds }: Standing): string {
  const { name, round, since, duration } = phase;
  const gone = milliseconds - since;
  const which = rounds > 1 ? ` (round ${round + 1} of ${rounds})` : '';
  const end =
    duration === null ? show.clock(gone) : `${bar(gone / duration)} ${show.clock(gone)} of ${show.clock(duration)}`;
  return `${scenario}  ${show.clock(milliseconds)}  ${name}${which}  ${end}`;
}

const words = (name: string, some: Latencies | null | undefined): string =>
  some ? `${name} ${show.duration(some.p50)} (99 %: ${show.duration(some.p99)})` : `${name} –`;

function countLines({ whole, sample, faults }: Standing): string[] {
  const { figures, fleet } = whole;
  const n = (name: string): string => show.count(fleet[name] ?? 0);
  const lines = [
    `  connected ${n('connected')} of ${n('devices')}, activated ${n('activated')}; ${n('losses')} connections lost; ${show.count(faults)} faults played`,
    `  commands  ${n('commands')} received, ${n('answers')} answered, ${n('outstanding')} in progress now`,
  ];
  if (!figures) return lines;
  const results = figures.succeeded + figures.failed + figures.cancelled;
  return [
    ...lines,
    `  results   ${show.count(results)} of ${show.count(figures.accepted)} accepted: ${show.count(figures.succeeded)} succeeded, ${show.count(figures.failed)} failed, ${show.count(figures.cancelled)} cancelled; ${show.count(figures.lost)} lost, ${show.count(figures.doubled)} doubled, ${show.count(figures.late)} late`,
    `  latency   now: ${words('to the device', sample?.delivered)}, ${words('to the result', sample?.settledAfter)}`,
    `            whole run: ${words('to the device', latencyOf(whole, 'delivered'))}, ${words('to the result', latencyOf(whole, 'settled'))}`,
  ];
}

/** The lines that a terminal shows during a run. */
export function liveLines(standing: Standing): string[] {
  const open = standing.expectations.filter(({ holds }) => !holds);
  const held = standing.expectations.length - open.length;
  const expected =
    standing.expectations.length === 0
      ? []
      : [
          `  expected  ${held} of ${standing.expectations.length} hold at present`,
          ...open.map(
            ({ text, phase, shown }) => `            not yet: ${text}${phase === null ? '' : ` (${phase})`}: ${shown}`,
          ),
        ];
  return [phaseLine(standing), ...countLines(standing), ...expected].map(plainText);
}

/** The state of a run as one line, for a log. */
export function liveLine(standing: Standing): string {
  const { whole, sample, phase, milliseconds, expectations } = standing;
  const { fleet, figures } = whole;
  const results = figures ? figures.succeeded + figures.failed + figures.cancelled : 0;
  const held = expectations.filter(({ holds }) => holds).length;
  return plainText(
    [
      `${show.clock(milliseconds)} ${phase.name}:`,
      `${show.count(fleet['connected'] ?? 0)} of ${show.count(fleet['devices'] ?? 0)} connected,`,
      ...(figures
        ? [
            `${show.count(figures.accepted)} accepted, ${show.count(results)} results,`,
            `${show.count(figures.lost)} lost, ${show.count(figures.doubled)} doubled,`,
            `${words('to the device', sample?.delivered)},`,
          ]
        : [`${show.count(fleet['commands'] ?? 0)} commands, ${show.count(fleet['answers'] ?? 0)} answers,`]),
      `${held} of ${expectations.length} expectations hold`,
    ].join(' '),
  );
}
