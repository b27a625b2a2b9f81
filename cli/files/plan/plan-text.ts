import type { Look } from '../../show/look.ts';
import { oneLine } from '../../show/plain-text.ts';
import type { Accounts } from './make-plan.ts';
import type { Action, Change, Described, Plan, Step } from './plan.ts';

const COLOURS = { create: 'green', change: 'yellow', replace: 'yellow', remove: 'red' } as const;
/** The longest value that is shown, in characters. */
const LONGEST = 200;

function shown(value: unknown): string {
  const text = oneLine(typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing'));
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
}

function changeText({ field, before, after }: Change): string {
  const name = oneLine(field);
  if (before === undefined) return `${name}: ${shown(after)}`;
  if (after === undefined) return `${name}: ${shown(before)}`;
  return `${name}: ${shown(before)} -> ${shown(after)}`;
}

export const titleOf = ({ kind, name }: Described): string => oneLine(kind === 'settings' ? kind : `${kind} ${name}`);
const placeOf = ({ place }: Described): string => (place ? oneLine(`${place.file}:${place.line}`) : '');

export const stepText = (step: Step, { paint }: Look): string => {
  const title = `${paint(COLOURS[step.action], step.action.padEnd(7))} ${titleOf(step)}`;
  const place = step.place === null ? '' : `  ${paint('dim', placeOf(step))}`;
  const lines = [...step.changes.map(changeText), ...step.notes.map((note) => `(${oneLine(note)})`)];
  return `${title}${place}\n${lines.map((line) => `          ${line}\n`).join('')}`;
};

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;
const PLURALS: Readonly<Record<string, string>> = {
  settings: 'settings',
  tags: 'tags',
  person: 'people',
  'enrolment batch': 'enrolment batches',
};
const kinds = (number: number, kind: string): string =>
  number === 1 || !Object.hasOwn(PLURALS, kind) ? count(number, kind) : `${number} ${PLURALS[kind]}`;

const WORDS: Readonly<Record<Action, string>> = {
  create: 'to create',
  change: 'to change',
  replace: 'to replace',
  remove: 'to remove',
};

/** A plan in one line: `1 to create, 2 to change; 3 are as the files say`. */
export function summaryOf({ steps, refused, unchanged }: Plan): string {
  const numbers = (Object.keys(WORDS) as Action[]).flatMap((action) => {
    const number = steps.filter((step) => step.action === action).length;
    return number === 0 ? [] : [`${number} ${WORDS[action]}`];
  });
  const changes = numbers.length === 0 ? 'nothing to change' : numbers.join(', ');
  const bad = refused.length === 0 ? '' : `, ${refused.length} refused`;
  return `${changes}${bad}; ${unchanged} as the files say`;
}

/** A plan in words. */
export const planText =
  (plan: Plan, { application, administration }: Accounts) =>
  (look: Look): string => {
    const { paint } = look;
    const heads = [
      ...(administration ? [`administration at ${administration.baseUrl}`] : []),
      ...(application ? [`${application.applicationId} at ${application.baseUrl}`] : []),
    ];
    const section = (title: string, lines: readonly string[]): string =>
      lines.length === 0 ? '' : `\n${paint('bold', title)}\n${lines.map((line) => `  ${line}\n`).join('')}`;
    const about = (one: Described): string => `${titleOf(one)}${one.place ? `  ${paint('dim', placeOf(one))}` : ''}`;
    return [
      `${oneLine(heads.join(', '))}\n`,
      plan.steps.length === 0 ? '' : `\n${plan.steps.map((step) => `  ${stepText(step, look)}`).join('')}`,
      section(
        'Refused: an apply would change nothing',
        plan.refused.map((one) => `${about(one)}: ${oneLine(one.reason)}`),
      ),
      section(
        'Not compared',
        plan.notCompared.map((one) => `${titleOf(one)}, ${one.field}: ${oneLine(one.reason)}`),
      ),
      section(
        'Not touched: no file names them',
        plan.notTouched.map(({ kind, count: number, names }) => {
          const more = number > names.length ? ', ...' : '';
          return `${kinds(number, kind)}: ${names.map(oneLine).join(', ')}${more}`;
        }),
      ),
      `\n${summaryOf(plan)}\n`,
    ].join('');
  };
