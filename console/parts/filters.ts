import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { now } from '../base/clock.ts';
import { button, type Child, div, li, span, ul, use, type VNode } from '../base/elements.ts';
import { visible, when } from '../base/format.ts';
import { filter, place } from '../base/place.ts';
import { type Filter, filterEditor } from './filter-editor.ts';
import { viewsOf } from './saved-views.ts';

export type { Filter };

function wordsOf({ label, choices, kind }: Filter, value: string): string {
  const isTime = kind === 'time' && !Number.isNaN(Date.parse(value));
  return `${label}: ${isTime ? when(value) : (choices?.find(([one]) => one === value)?.[1] ?? visible(value))}`;
}

/** Moves the focus among the buttons of a list with the arrow keys. */
function moveFocus(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof Element)) return;
  event.preventDefault();
  const all = [...event.currentTarget.querySelectorAll('button')];
  all.at((all.indexOf(document.activeElement as HTMLButtonElement) + step) % all.length)?.focus();
}

function Offered({ filters, choose }: { filters: readonly Filter[]; choose(name: string): void }) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.querySelector('button')?.focus(), []);
  return ul(
    { ref: list, class: 'offered', 'aria-label': 'Filters to add', onKeyDown: moveFocus },
    filters.map(({ name, label }) =>
      li({ key: name }, button({ type: 'button', class: 'plain', onClick: () => choose(name) }, label)),
    ),
  );
}

/** The list of the filters that can be added is open. */
const LIST = '';

function Bar({ filters, others }: { filters: readonly Filter[]; others: Child }) {
  /** The name of the filter that is being set, or LIST; null: nothing is open. */
  const open = useSignal<string | null>(null);
  const box = useRef<HTMLDivElement>(null);
  /** The filter whose chip gets the focus next; where it has none, the button that adds filters gets it. */
  const next = useRef<string | null>(null);
  const { query } = place.value;
  const set = filters.filter(({ name }) => query[name] !== undefined);
  const unset = filters.filter(({ name }) => query[name] === undefined);
  const [only] = unset.length === 1 ? unset : [];
  const editing = filters.find(({ name }) => name === open.value);

  const leave = (): void => {
    next.current = open.peek() ?? LIST;
    open.value = null;
  };
  const clear = (gone: readonly Filter[]): void => {
    next.current = LIST;
    open.value = null;
    filter(Object.fromEntries(gone.map(({ name }) => [name, undefined])));
  };
  useEffect(() => {
    if (next.current === null || open.value !== null) return;
    const chip = box.current?.querySelector<HTMLElement>(`[data-filter="${CSS.escape(next.current)}"]`);
    next.current = null;
    (chip ?? box.current?.querySelector<HTMLElement>('.add'))?.focus();
  });
  useEffect(() => {
    if (open.value === null) return;
    const outside = (event: MouseEvent): void => {
      if (event.target instanceof Node && event.target.isConnected && !box.current?.contains(event.target))
        open.value = null;
    };
    addEventListener('click', outside);
    return () => removeEventListener('click', outside);
  }, [open.value]);

  return div(
    { class: 'stack tight' },
    div(
      {
        ref: box,
        class: 'filters',
        role: 'search',
        'aria-label': 'Filters',
        onKeyDown: (event) => {
          if (event.key !== 'Escape' || open.peek() === null) return;
          event.stopPropagation();
          leave();
        },
      },
      set.map((one) =>
        span(
          { class: 'chip', key: one.name },
          button(
            {
              type: 'button',
              title: 'Change',
              'data-filter': one.name,
              'aria-expanded': open.value === one.name,
              onClick: () => (open.value = one.name),
            },
            wordsOf(one, query[one.name]!),
          ),
          button({ type: 'button', 'aria-label': `Remove the filter ${one.label}`, onClick: () => clear([one]) }, '×'),
        ),
      ),
      unset.length === 0
        ? null
        : button(
            {
              type: 'button',
              class: 'add',
              'aria-expanded': open.value !== null,
              onClick: () => (open.value = open.peek() === null ? (only?.name ?? LIST) : null),
            },
            `+ ${only && set.length === 0 ? only.label : 'filter'}`,
          ),
      set.length < 2 ? null : button({ type: 'button', class: 'plain', onClick: () => clear(set) }, 'Clear all'),
      others,
      open.value === null
        ? null
        : div(
            { class: 'panel' },
            editing
              ? filterEditor({ one: editing, done: leave })
              : use(Offered, { filters: unset, choose: (name) => (open.value = name) }),
          ),
    ),
    viewsOf(filters.map(({ name }) => name)),
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
  return { name: 'since', label: 'Since', kind: 'time', choices };
}

/** The filters for rows of a period. */
export const periodFilters = (): Filter[] => [sinceFilter(), { name: 'until', label: 'Until', kind: 'time' }];

/**
 * The filters of a list. Each that is set is a chip, with which it is changed or removed. A button offers the others.
 */
export const filterBar = (filters: readonly Filter[], ...others: Child[]): VNode => use(Bar, { filters, others });

/** Makes the query of a request from the address: the named parameters, and the cursor of the page of the list. */
export const asked = (names: readonly string[]): Record<string, string> => {
  const { query } = place.value;
  return Object.fromEntries(
    [...names, 'after'].flatMap((name) => (query[name] === undefined ? [] : [[name, query[name]]])),
  );
};
