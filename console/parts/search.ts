import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { a, div, input, p, span, use, type VNode } from '../base/elements.ts';
import { find, placeOf } from '../base/find.ts';
import { visible } from '../base/format.ts';
import { go, ROLE } from '../base/place.ts';
import type { FoundThing } from '../base/rows.ts';
import { icon } from './icon.ts';

const DEBOUNCE_MS = 180;

/** Searches by the beginning of an identifier, or by name; the key `/` moves the focus to the field. */
function Search() {
  const field = useRef<HTMLInputElement>(null);
  const found = useSignal<FoundThing[] | null>(null);
  const chosen = useSignal(-1);
  const asked = useRef<AbortController | undefined>(undefined);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);

  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.target instanceof Element && event.target.closest('input, textarea, select, dialog')) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);

  const close = (): void => {
    clearTimeout(timer.current);
    asked.current?.abort();
    found.value = null;
    chosen.value = -1;
  };
  const ask = (text: string): void => {
    clearTimeout(timer.current);
    asked.current?.abort();
    if (text === '') {
      close();
      return;
    }
    timer.current = setTimeout(async () => {
      const stop = new AbortController();
      asked.current = stop;
      const answer = await find(text, stop.signal).catch(() => []);
      if (stop.signal.aborted) return;
      found.value = answer;
      chosen.value = answer.length > 0 ? 0 : -1;
    }, DEBOUNCE_MS);
  };
  const leave = (): void => {
    close();
    if (field.current) field.current.value = '';
  };
  const keys = (event: KeyboardEvent): void => {
    const rows = found.value ?? [];
    if (event.key === 'Escape') {
      leave();
      field.current?.blur();
    } else if (event.key === 'ArrowDown') chosen.value = Math.min(rows.length - 1, chosen.value + 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(0, chosen.value - 1);
    else if (event.key === 'Enter' && rows[chosen.value]) {
      go(placeOf(rows[chosen.value]!));
      leave();
    } else return;
    event.preventDefault();
  };

  return div(
    {
      class: 'search',
      role: 'search',
      onFocusOut: (event: FocusEvent) => {
        const to = event.relatedTarget;
        if (!(to instanceof Node && event.currentTarget instanceof Node && event.currentTarget.contains(to))) close();
      },
    },
    icon('search'),
    input({
      ref: field,
      type: 'text',
      placeholder:
        ROLE === 'operator'
          ? 'Search devices, transactions, deliveries ...'
          : 'Search devices, transactions, packages ...',
      'aria-label': 'Search by identifier or name',
      role: 'combobox',
      'aria-expanded': found.value !== null,
      'aria-controls': 'found',
      'aria-autocomplete': 'list',
      ...(chosen.value >= 0 && { 'aria-activedescendant': `found-${chosen.value}` }),
      autoComplete: 'off',
      spellcheck: false,
      onInput: (event) => ask(event.currentTarget.value.trim()),
      onKeyDown: keys,
    }),
    span({ 'aria-hidden': 'true', class: 'key' }, '/'),
    found.value === null
      ? null
      : div(
          { class: 'found', id: 'found', role: 'listbox', 'aria-label': 'Search results' },
          found.value.length === 0
            ? p({ class: 'quiet' }, 'Nothing was found.')
            : found.value.map((one, index) =>
                a(
                  {
                    key: `${one.kind} ${one.id}`,
                    id: `found-${index}`,
                    role: 'option',
                    'aria-selected': index === chosen.value,
                    class: index === chosen.value ? 'chosen' : '',
                    href: placeOf(one),
                    onClick: () => setTimeout(leave, 0),
                  },
                  span({ class: 'kind' }, one.kind),
                  span(
                    { class: 'wrap mono' },
                    visible(one.id),
                    one.parent ? span({ class: 'quiet' }, `  ${visible(one.parent)}`) : null,
                  ),
                ),
              ),
        ),
  );
}

export const searchHere = (): VNode => use(Search, {});
