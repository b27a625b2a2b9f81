import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { div, input, p, span, use, type VNode } from '../base/elements.ts';
import { find, placeOf } from '../base/find.ts';
import { visible } from '../base/format.ts';
import { createNewest } from '../base/newest.ts';
import { addressOf, go } from '../base/place.ts';
import { savedViews } from '../base/saved-views.ts';
import { signOut } from '../base/session.ts';
import { zone } from '../base/zone.ts';
import { chooseZone } from '../base/zone-choice.ts';
import { close, open, title } from './dialog.ts';
import { addressOfView } from './saved-views.ts';

/** Milliseconds after the last keystroke until the service is asked. */
const DEBOUNCE_MS = 180;
const MOST = 12;

interface Command {
  kind: string;
  words: string;
  act(): void;
}
/** A page that the navigation leads to. */
export interface Place {
  path: string;
  name: string;
}

function commandsOf(places: readonly Place[]): Command[] {
  const isUtc = zone.value === 'utc';
  return [
    ...places.map(({ path, name }) => ({
      kind: 'page',
      words: name,
      act: () => go(addressOf(path === '' ? [] : [path])),
    })),
    ...savedViews.value.map((view) => ({
      kind: `${view.page} view`,
      words: view.name,
      act: () => go(addressOfView(view)),
    })),
    {
      kind: 'action',
      words: isUtc ? 'Show times in local time' : 'Show times in UTC',
      act: () => chooseZone(isUtc ? 'local' : 'utc'),
    },
    { kind: 'action', words: 'Sign out', act: () => void signOut() },
  ];
}

function Palette({ places }: { places: readonly Place[] }) {
  const text = useSignal('');
  const found = useSignal<readonly Command[]>([]);
  const chosen = useSignal(0);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const newest = useRef(
    createNewest<Command[]>((outcome) => {
      found.value = 'value' in outcome ? outcome.value : [];
    }),
  );
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      newest.current.stop();
    },
    [],
  );
  const wanted = text.value.toLowerCase();
  const rows = [
    ...commandsOf(places).filter(({ words }) => words.toLowerCase().includes(wanted)),
    ...found.value,
  ].slice(0, MOST);
  const at = Math.min(chosen.value, rows.length - 1);
  const type = (next: string): void => {
    text.value = next;
    chosen.value = 0;
    found.value = [];
    clearTimeout(timer.current);
    newest.current.stop();
    if (next === '') return;
    timer.current = setTimeout(() => {
      newest.current.ask(async (signal) =>
        (await find(next, signal)).map((one) => ({
          kind: one.kind,
          words: one.parent === null ? one.id : `${one.id}  ${one.parent}`,
          act: () => go(placeOf(one)),
        })),
      );
    }, DEBOUNCE_MS);
  };
  const carryOut = ({ act }: Command): void => {
    close();
    act();
  };
  const keys = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') chosen.value = Math.min(rows.length - 1, at + 1);
    else if (event.key === 'ArrowUp') chosen.value = Math.max(0, at - 1);
    else if (event.key === 'Enter' && rows[at]) carryOut(rows[at]);
    else return;
    event.preventDefault();
  };
  return div(
    { class: 'palette' },
    title('Go to, or do'),
    input({
      type: 'text',
      autoFocus: true,
      role: 'combobox',
      'aria-label': 'Page, view, action, identifier or name',
      'aria-expanded': true,
      'aria-controls': 'commands',
      'aria-autocomplete': 'list',
      ...(rows[at] && { 'aria-activedescendant': `command-${at}` }),
      autoComplete: 'off',
      spellcheck: false,
      onInput: (event) => type(event.currentTarget.value.trim()),
      onKeyDown: keys,
    }),
    rows.length === 0 ? p({ class: 'quiet', role: 'status' }, 'Nothing was found.') : null,
    div(
      { class: 'commands', id: 'commands', role: 'listbox', 'aria-label': 'Commands' },
      rows.map((command, index) =>
        div(
          {
            key: `${command.kind} ${command.words}`,
            id: `command-${index}`,
            role: 'option',
            'aria-selected': index === at,
            class: index === at ? 'chosen' : '',
            onClick: () => carryOut(command),
          },
          span({ class: 'kind' }, command.kind),
          span({ class: 'wrap' }, visible(command.words)),
        ),
      ),
    ),
  );
}

function Keys({ places }: { places: readonly Place[] }) {
  useEffect(() => {
    const key = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey)
        return;
      event.preventDefault();
      // A dialog may hold input that would be lost.
      if (document.querySelector('dialog[open]') === null) open(use(Palette, { places }));
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, []);
  return null;
}

/** Opens the palette of pages, views, actions and search results with Ctrl+K or ⌘K. */
export const paletteHere = (places: readonly Place[]): VNode => use(Keys, { places });
