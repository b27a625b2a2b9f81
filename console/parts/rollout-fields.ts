import { type Child, div, fieldset, input, label, legend, span } from '../base/elements.ts';
import { rateWords } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { given, numberOf, typed } from '../base/typed.ts';
import { textField } from './fields.ts';

/** The rules of a rollout that can also be changed later. */
type Rules = Pick<RolloutDetails['rules'], 'ratePerMinute' | 'maxUnfinished' | 'abort' | 'window'>;
type Window = NonNullable<Rules['window']>;

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const;

/** The attributes of a field for a whole number. */
export const whole = (min: number, max: number) => ({ type: 'number', min, max, step: 1 }) as const;

/** A group of fields with a name. */
export const group = (name: string, ...fields: Child[]): Child =>
  fieldset({ class: 'group' }, legend(null, name), div({ class: 'fields even' }, fields));

const ownTimeZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const days = (chosen: Window['days']): Child =>
  div(
    { class: 'row', role: 'group', 'aria-label': 'Days on which the window begins' },
    DAYS.map((day) =>
      label(
        { class: 'tick', key: day },
        input({ type: 'checkbox', name: 'windowDay', value: day, defaultChecked: chosen?.includes(day) ?? true }),
        span(null, day),
      ),
    ),
  );

/** The fields for the name, the pace, the abort rule and the window of a rollout. */
export const labelField = (value: string | null): Child =>
  textField({ name: 'label', label: 'Label', value: value ?? '', hint: 'A name for people.' }, { maxLength: 100 });

export const paceField = ({ ratePerMinute }: Rules): Child =>
  textField(
    {
      name: 'ratePerMinute',
      label: 'Commands a minute, at most',
      value: String(typeof ratePerMinute === 'object' ? '' : (ratePerMinute ?? '')),
      hint:
        typeof ratePerMinute === 'object'
          ? `Empty: as now, ${rateWords(ratePerMinute)}.`
          : 'Downloads that your network carries. Without it a stage gets all its commands at once.',
    },
    whole(1, 100_000),
  );

export const abortFields = ({ abort }: Rules): Child => [
  textField(
    {
      name: 'failedPercent',
      label: 'Share of failures, in %',
      value: String(abort?.failedPercent ?? ''),
      hint: 'Leave it empty for no such rule.',
    },
    whole(1, 100),
  ),
  textField(
    {
      name: 'minimumResults',
      label: 'Not before so many results',
      value: String(abort?.minimumResults ?? 20),
      hint: 'Without a minimum the first failure would be 100 %.',
    },
    whole(1, 100_000),
  ),
];

export const windowFields = ({ window }: Rules): Child => [
  textField({ name: 'windowFrom', label: 'From', value: window?.from ?? '' }, { type: 'time' }),
  textField(
    {
      name: 'windowTo',
      label: 'To',
      value: window?.to ?? '',
      hint: 'What is not delivered then is taken back until the next window.',
    },
    { type: 'time' },
  ),
  textField({ name: 'timeZone', label: 'Time zone', value: window?.timeZone ?? ownTimeZone() }),
  days(window?.days),
];

function readWindow(data: FormData): Window | undefined {
  const [from, to] = [typed(data, 'windowFrom'), typed(data, 'windowTo')];
  if (from === undefined && to === undefined) return undefined;
  const chosen = data.getAll('windowDay') as (typeof DAYS)[number][];
  return given({
    days: chosen.length === DAYS.length ? undefined : chosen,
    from,
    to,
    timeZone: typed(data, 'timeZone'),
  }) as Window;
}

/** Reads the fields; a rule whose fields are empty is left out. `codes`: the codes that the abort rule counts. */
export function readRules(data: FormData, codes?: NonNullable<Rules['abort']>['codes']): Rules {
  const [ratePerMinute, failedPercent] = [numberOf(data, 'ratePerMinute'), numberOf(data, 'failedPercent')];
  const [minimumResults, maxUnfinished] = [numberOf(data, 'minimumResults'), numberOf(data, 'maxUnfinished')];
  const abort = failedPercent === undefined ? undefined : given({ failedPercent, minimumResults, codes });
  return given({ ratePerMinute, maxUnfinished, abort, window: readWindow(data) }) as Rules;
}
