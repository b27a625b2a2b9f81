import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { now } from '../base/clock.ts';
import { button, type Child, div, input, option, select, span, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { filter, place } from '../base/place.ts';
import { viewsOf } from './saved-views.ts';

/** A filter of a list: a parameter in the address of the page, and the field in which the user sets it. */
export interface Filter {
  name: string;
  label: string;
  /** The choices, each with its value and its label. Without choices the user types a text. */
  choices?: readonly (readonly [value: string, words: string])[];
  placeholder?: string;
}

/** Milliseconds after the last keystroke until a typed text is applied. */
const DEBOUNCE_MS = 250;

function Typed({ name, label, placeholder = label }: Filter) {
  const field = useRef<HTMLInputElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const given = place.value.query[name] ?? '';
  // The field shows the value from the address, unless the user is typing in it.
  useEffect(() => {
    if (field.current && document.activeElement !== field.current) field.current.value = given;
  }, [given]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const set = (text: string): void => {
    clearTimeout(timer.current);
    if (text !== (place.peek().query[name] ?? '')) filter({ [name]: text });
  };
  return input({
    ref: field,
    type: 'text',
    'aria-label': label,
    placeholder,
    autoComplete: 'off',
    spellcheck: false,
    defaultValue: given,
    onInput: (event) => {
      clearTimeout(timer.current);
      const text = event.currentTarget.value.trim();
      timer.current = setTimeout(() => set(text), DEBOUNCE_MS);
    },
    onChange: (event) => set(event.currentTarget.value.trim()),
  });
}

function Chosen({ name, label, choices = [] }: Filter) {
  const given = place.value.query[name] ?? '';
  return select(
    { 'aria-label': label, value: given, onChange: (event) => filter({ [name]: event.currentTarget.value }) },
    option({ value: '' }, label),
    choices.map(([value, words]) => option({ value, key: value, selected: value === given }, words)),
    given !== '' && !choices.some(([value]) => value === given)
      ? option({ value: given, selected: true }, visible(given))
      : null,
  );
}

const wordsOf = ({ label, choices }: Filter, value: string): string =>
  `${label}: ${choices?.find(([one]) => one === value)?.[1] ?? visible(value)}`;

function Bar({ filters, others }: { filters: readonly Filter[]; others: Child }) {
  const isOpen = useSignal(false);
  const { query } = place.value;
  const set = filters.filter(({ name }) => query[name] !== undefined);
  return div(
    { class: 'stack tight' },
    div(
      { class: `filters ${isOpen.value ? 'is-open' : ''}`, role: 'search', 'aria-label': 'Filters' },
      filters.map((one) => use(one.choices ? Chosen : Typed, { ...one, key: one.name })),
      others,
      filters.length < 3
        ? null
        : button(
            {
              type: 'button',
              class: 'toggle',
              'aria-expanded': isOpen.value,
              onClick: () => (isOpen.value = !isOpen.value),
            },
            isOpen.value ? 'Fewer filters' : 'More filters',
          ),
    ),
    viewsOf(filters.map(({ name }) => name)),
    set.length === 0
      ? null
      : div(
          { class: 'row' },
          set.map((one) =>
            span(
              { class: 'chip', key: one.name },
              span(null, wordsOf(one, query[one.name]!)),
              button(
                {
                  type: 'button',
                  'aria-label': `Remove the filter ${one.label}`,
                  onClick: () => filter({ [one.name]: undefined }),
                },
                '×',
              ),
            ),
          ),
          set.length < 2
            ? null
            : button(
                {
                  type: 'button',
                  class: 'plain tiny',
                  onClick: () => filter(Object.fromEntries(set.map(({ name }) => [name, undefined]))),
                },
                'Remove all filters',
              ),
        ),
  );
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
/** The time of the service some hours ago, as a choice of a filter: to the minute, so that an address stays for a while. */
export const hoursAgo = (hours: number): string =>
  new Date(Math.floor((now.peek() - hours * HOUR) / MINUTE) * MINUTE).toISOString();

/** A filter for rows since a time. */
export function sinceFilter(): Filter {
  const choices = [
    [hoursAgo(1), 'an hour ago'],
    [hoursAgo(24), 'a day ago'],
    [hoursAgo(7 * 24), '7 days ago'],
  ] as const;
  return { name: 'since', label: 'Since', choices };
}

/**
 * The filters of a list. Each filter that is set is also shown as a chip with a button to remove it. On a phone, most
 * filters are hidden behind a button.
 */
export const filterBar = (filters: readonly Filter[], ...others: Child[]): VNode => use(Bar, { filters, others });

/** Makes the query of a request from the address: the named parameters, and the cursor of the page of the list. */
export const asked = (names: readonly string[]): Record<string, string> => {
  const { query } = place.value;
  return Object.fromEntries(
    [...names, 'after'].flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
};
