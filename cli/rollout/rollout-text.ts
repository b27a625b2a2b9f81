import type { Operations } from '@lapel/client/operations';
import { abortText, healthDistanceText } from '@lapel/schemas/base/rollout-distance';
import { healthLines } from '@lapel/schemas/base/rollout-health';
import { verdictText } from '@lapel/schemas/base/rollout-verdict';
import { MEMBER_STATES, openOf } from '@lapel/schemas/base/rollouts';
import { oneLine } from '../show/plain-text.ts';
import { bar } from '../show/progress.ts';
import { cut, wrap } from '../show/text-width.ts';

export type Rollout = Operations['readRollout']['answer'];
export const ROLLOUT_STATES = ['scheduled', 'running', 'paused', 'completed', 'cancelled'];
export const DEVICE_STATES = MEMBER_STATES;
type Counts = Rollout['counts'];
type RolloutError = Rollout['errors'][number];

// Columns. A narrower terminal gets shorter bars.
const NARROW = 79;
const SHORT_BAR = 12;
const INDENT = '  ';
const DEEPER = '    ';
// A terminal shows so many codes of errors while a rollout is followed; `rollout show` has all of them.
const MOST_CODES = 5;
const UNITS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
];

const total = (counts: Counts): number => Object.values(counts).reduce((sum, devices) => sum + devices, 0);
const ended = (counts: Counts): number => total(counts) - openOf(counts);

/** A part in percent, rounded down, so that only a whole is 100 %. */
const percentOf = (part: number, whole: number): number => (whole === 0 ? 100 : Math.floor((100 * part) / whole));

/** Seconds in the largest unit that needs no fraction: `1 h`, `90 min`. */
function secondsText(seconds: number): string {
  const [size, unit] = UNITS.find(([one]) => seconds > 0 && seconds % one === 0) ?? [1, 's'];
  return `${seconds / size} ${unit}`;
}

/** Counts in words, without zeros: `180 waiting, 5 succeeded`. The unfinished devices are told apart. */
export const countsText = (counts: Counts, { installing, queued, switchedOff }: Rollout['inWork']): string =>
  Object.entries(counts)
    .flatMap(([state, devices]): [string, number][] =>
      state === 'unfinished' && installing + queued + switchedOff > 0
        ? [
            ['installing', installing],
            ['queued', queued],
            ['switched off', switchedOff],
          ]
        : [[state, devices]],
    )
    .filter(([, devices]) => devices > 0)
    .map(([state, devices]) => `${devices} ${state}`)
    .join(', ');

/** The state with its reason: `paused (ABORT_RULE)`. */
export const stateText = ({ state, reason }: Pick<Rollout, 'state' | 'reason'>): string =>
  reason === null ? state : oneLine(`${state} (${reason})`);

/** A code with the number of its devices and some of them: `failed BROKEN: 2 devices, for example ...`. */
export const errorText = ({ state, code, devices, examples }: RolloutError): string =>
  oneLine(`${state} ${code}: ${devices} ${devices === 1 ? 'device' : 'devices'}, for example ${examples.join(', ')}`);

/** The conditions for which a stage waits before the next one begins, with their present values. */
function ruleText({
  continueWhen,
  soakEndsAt,
  approval,
  approvalBy,
  approved,
  state,
  counts,
}: Rollout['stages'][number]): string {
  const { succeeded, failed } = counts;
  const reached = state === 'waiting' ? '' : ` (now ${percentOf(succeeded, succeeded + failed + openOf(counts))} %)`;
  const share = continueWhen ? `at ${continueWhen.succeededPercent} % succeeded${reached}` : 'when all have ended';
  const soak = continueWhen?.soakFor ? `, ${secondsText(continueWhen.soakFor)} later` : '';
  const ends = soakEndsAt === null ? '' : ` (until ${soakEndsAt.slice(0, 16).replace('T', ' ')} UTC)`;
  return `next stage: ${share}${soak}${ends}${approval ? `, after approval${approvalBy === 'other' ? ' by another person' : ''}${approved ? ' (approved)' : ''}` : ''}`;
}

/** The health of the devices with the release, beside those that wait: `health: silent devices 5 % (waiting: 2 %)`. */
export const healthText = ({ treated, control }: NonNullable<Rollout['stages'][number]['health']>): string =>
  `health: ${healthLines(treated, control)
    .map(([name, ours, theirs]) => `${name} ${ours}${theirs === '' ? '' : ` (waiting: ${theirs})`}`)
    .join(', ')}`;

/** Lines of at most `width` columns, the further ones indented; one line without a width. */
function fit(text: string, width: number | null): string[] {
  if (width === null) return [`${INDENT}${text}`];
  return wrap(text, width - DEEPER.length).map((line, index) => cut(`${index === 0 ? INDENT : DEEPER}${line}`, width));
}

/** The lines of a stage: a bar with what is planned, then its devices by state, and what the next stage waits for. */
function stageLines({ stages, devices }: Rollout, index: number, width: number | null): string[] {
  const stage = stages[index];
  if (!stage) return [];
  const { state, counts, planned, inWork, verdict } = stage;
  const all = state === 'waiting' ? planned : total(counts);
  const isNarrow = width !== null && width < NARROW;
  const reached = state === 'waiting' ? 0 : percentOf(ended(counts), all);
  const share = isNarrow || devices === 0 ? '' : ` (${Math.round((100 * all) / devices)} %)`;
  const head = `stage ${index + 1} of ${stages.length}  ${bar(reached, isNarrow ? SHORT_BAR : undefined)}`;
  const numbers = `${state === 'waiting' ? 0 : ended(counts)} of ${all}${share}`;
  return [
    ...[`${head}  ${numbers}`].map((line) => (width === null ? line : cut(line, width))),
    ...(state === 'waiting' || all === 0 ? [] : fit(countsText(counts, inWork), width)),
    ...(stage.health === null ? [] : fit(healthText(stage.health), width)),
    ...(verdict && state === 'running' ? fit(oneLine(`verdict: ${verdictText(verdict)}`), width) : []),
    ...(state === 'over' || index === stages.length - 1 ? [] : fit(ruleText(stage), width)),
  ];
}

/** The tag of the verdict on the present stage, which a decision names. It is not shortened, because it is copied. */
const tagLines = ({ state, verdictTag }: Rollout['stages'][number]): string[] =>
  state === 'running' && verdictTag ? [`${INDENT}tag of the verdict: ${verdictTag}`] : [];

/** The codes of errors of all stages, at most so many, and the number of the others. */
function errorTexts({ errors }: Rollout, most: number): string[] {
  const shown = errors.slice(0, most).map(errorText);
  if (errors.length > most) shown.push(`and ${errors.length - most} more codes`);
  return shown;
}

const ENDS = { approval: 'an approval', resume: 'a resume', cancel: 'its cancel' } as const;

/** The lines after the last stage: the errors below a heading, because they belong to all stages, then the speed. */
function endLines(rollout: Rollout, errors: readonly string[]): string[] {
  const { resultsPerMinute, estimatedEnd, endWaitsFor, abortRule, healthRules } = rollout;
  const waits = endWaitsFor === null ? '' : `, the end waits for ${ENDS[endWaitsFor]}`;
  const end = estimatedEnd === null ? waits : `, the end at about ${oneLine(estimatedEnd)}`;
  return [
    ...(errors.length === 0 ? [] : ['Errors', ...errors]),
    ...(abortRule === null ? [] : [`abort rule: ${abortText(abortRule)}`]),
    ...healthRules.map((state) => oneLine(`health rule: ${healthDistanceText(state)}`)),
    ...(resultsPerMinute === null ? [] : [`${resultsPerMinute} results a minute${end}`]),
  ];
}

/** All stages, errors and the speed of a rollout, in lines of at most `width` columns; null: as long as they are. */
export const linesOf = (rollout: Rollout, width: number | null): string[] => [
  ...rollout.stages.flatMap((stage, index) => [...stageLines(rollout, index, width), ...tagLines(stage)]),
  ...endLines(
    rollout,
    errorTexts(rollout, Number.POSITIVE_INFINITY).flatMap((text) => fit(text, width)),
  ).map((line) => (width === null ? line : cut(line, width))),
];

/**
 * The same in at most `room` lines, for a terminal: each code has one line, stages that are over or wait are shortened,
 * and those furthest from the present stage are left out.
 */
export function linesInRoom(rollout: Rollout, width: number, room: number): string[] {
  const { stages, stage } = rollout;
  const errors = errorTexts(rollout, MOST_CODES).map((text) => `${INDENT}${text}`);
  const end = endLines(rollout, errors).map((line) => cut(line, width));
  const blocks = stages.map((_, index) => stageLines(rollout, index, width));
  const left = room - end.length;
  if (blocks.flat().length <= left) return [...blocks.flat(), ...end];
  const present = Math.max(0, stage - 1);
  const short = blocks.map((lines, index) => (index === present ? lines : lines.slice(0, 1)));
  let [from, to] = [0, short.length];
  const shown = (): string[] => [
    ...(from === 0 ? [] : [`... ${from} stages before`]),
    ...short.slice(from, to).flat(),
    ...(to === short.length ? [] : [`... ${short.length - to} stages after`]),
  ];
  while (shown().length > left && to - from > 1) {
    if (present - from >= to - 1 - present) from += 1;
    else to -= 1;
  }
  return [...shown(), ...end];
}
