import type { Operations } from '@lapel/client/operations';
import { oneLine } from '../show/plain-text.ts';
import { bar } from '../show/progress.ts';
import { cut, wrap } from '../show/text-width.ts';

export type Rollout = Operations['readRollout']['answer'];
export const ROLLOUT_STATES = ['scheduled', 'running', 'paused', 'completed', 'cancelled'];
export const DEVICE_STATES = ['waiting', 'unfinished', 'succeeded', 'failed', 'cancelled', 'unchanged', 'refused'];
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
const ended = (counts: Counts): number => total(counts) - counts.waiting - counts.unfinished;

/** A part in percent, rounded down, so that only a whole is 100 %. */
const percentOf = (part: number, whole: number): number => (whole === 0 ? 100 : Math.floor((100 * part) / whole));

/** Seconds in the largest unit that needs no fraction: `1 h`, `90 min`. */
function secondsText(seconds: number): string {
  const [size, unit] = UNITS.find(([one]) => seconds > 0 && seconds % one === 0) ?? [1, 's'];
  return `${seconds / size} ${unit}`;
}

/** Counts in words, without zeros: `180 waiting, 5 succeeded`. */
const countsText = (counts: Counts): string =>
  Object.entries(counts)
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
function ruleText({ continueWhen, approval, approved, state, counts }: Rollout['stages'][number]): string {
  const { succeeded, unchanged, failed, waiting, unfinished } = counts;
  const good = succeeded + unchanged;
  const reached = state === 'waiting' ? '' : ` (now ${percentOf(good, good + failed + waiting + unfinished)} %)`;
  const share = continueWhen ? `at ${continueWhen.succeededPercent} % succeeded${reached}` : 'when all have ended';
  const soak = continueWhen?.soakFor ? `, ${secondsText(continueWhen.soakFor)} later` : '';
  return `next stage: ${share}${soak}${approval ? `, after approval${approved ? ' (approved)' : ''}` : ''}`;
}

/** Lines of at most `width` columns, the further ones indented; one line without a width. */
function fit(text: string, width: number | null): string[] {
  if (width === null) return [`${INDENT}${text}`];
  return wrap(text, width - DEEPER.length).map((line, index) => cut(`${index === 0 ? INDENT : DEEPER}${line}`, width));
}

/** The lines of a stage: a bar with what is planned, then its devices by state, and what the next stage waits for. */
function stageLines({ stages, devices }: Rollout, index: number, width: number | null): string[] {
  const stage = stages[index];
  if (!stage) return [];
  const { state, counts, planned } = stage;
  const all = state === 'waiting' ? planned : total(counts);
  const isNarrow = width !== null && width < NARROW;
  const reached = state === 'waiting' ? 0 : percentOf(ended(counts), all);
  const share = isNarrow || devices === 0 ? '' : ` (${Math.round((100 * all) / devices)} %)`;
  const head = `stage ${index + 1} of ${stages.length}  ${bar(reached, isNarrow ? SHORT_BAR : undefined)}`;
  const numbers = `${state === 'waiting' ? 0 : ended(counts)} of ${all}${share}`;
  return [
    ...[`${head}  ${numbers}`].map((line) => (width === null ? line : cut(line, width))),
    ...(state === 'waiting' || all === 0 ? [] : fit(countsText(counts), width)),
    ...(state === 'over' || index === stages.length - 1 ? [] : fit(ruleText(stage), width)),
  ];
}

/** The codes of errors of all stages, at most so many, and the number of the others. */
function errorTexts({ errors }: Rollout, most: number): string[] {
  const shown = errors.slice(0, most).map(errorText);
  if (errors.length > most) shown.push(`and ${errors.length - most} more codes`);
  return shown;
}

/** The lines after the last stage: the errors below a heading, because they belong to all stages, then the speed. */
function endLines({ resultsPerMinute, estimatedEnd }: Rollout, errors: readonly string[]): string[] {
  const end = estimatedEnd === null ? '' : `, the end at about ${oneLine(estimatedEnd)}`;
  return [
    ...(errors.length === 0 ? [] : ['Errors', ...errors]),
    ...(resultsPerMinute === null ? [] : [`${resultsPerMinute} results a minute${end}`]),
  ];
}

/** All stages, errors and the speed of a rollout, in lines of at most `width` columns; null: as long as they are. */
export const linesOf = (rollout: Rollout, width: number | null): string[] => [
  ...rollout.stages.flatMap((_, index) => stageLines(rollout, index, width)),
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
