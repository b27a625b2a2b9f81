import { useEffect } from 'preact/hooks';
import { button, dd, div, dl, dt, kbd, use, type VNode } from '../base/elements.ts';
import { addressOf, go } from '../base/place.ts';
import { close, open, title } from './dialog.ts';
import type { Place } from './palette.ts';

/** Milliseconds within which the second key of a pair must follow. */
const PAIR_MS = 1_500;

/** The letter of each page after `g`: the first of its name that no earlier page has. */
function lettersOf(places: readonly Place[]): Map<string, Place> {
  const letters = new Map<string, Place>();
  for (const place of places) {
    const letter = place.name
      .toLowerCase()
      .split('')
      .find((one) => /[a-z]/.test(one) && !letters.has(one));
    if (letter !== undefined) letters.set(letter, place);
  }
  return letters;
}

/** Whether keys go into a field, so that they are no shortcuts. */
const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName));

/** Moves the focus to the link of the next, or the previous, row of the tables of the page. */
function move(by: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLElement>('#page .table tbody tr')];
  const links = rows.flatMap((row) => row.querySelector<HTMLElement>('a[href]') ?? []);
  const at = links.findIndex((link) => link.matches(':focus'));
  const next = links[at < 0 ? (by > 0 ? 0 : links.length - 1) : at + by];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

function help(letters: ReadonlyMap<string, Place>): VNode {
  const row = (keys: readonly string[], words: string): VNode =>
    div(
      { key: words },
      dt(
        null,
        keys.map((key) => [kbd(null, key), ' ']),
      ),
      dd(null, words),
    );
  return div(
    null,
    title('Keys'),
    dl(
      { class: 'facts' },
      row(['Ctrl', 'K'], 'Go to a page, or find something'),
      row(['/'], 'Search'),
      row(['j'], 'The next row'),
      row(['k'], 'The row before'),
      row(['Enter'], 'Open the row'),
      [...letters].map(([letter, { name }]) => row(['g', letter], name)),
      row(['?'], 'This list'),
    ),
    div({ class: 'ends' }, button({ type: 'button', onClick: close }, 'Back')),
  );
}

function Shortcuts({ places }: { places: readonly Place[] }) {
  useEffect(() => {
    const letters = lettersOf(places);
    let pairUntil = 0;
    const key = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      const wanted = event.timeStamp < pairUntil ? letters.get(event.key) : undefined;
      pairUntil = 0;
      if (wanted) go(addressOf(wanted.path === '' ? [] : [wanted.path]));
      else if (event.key === 'g') pairUntil = event.timeStamp + PAIR_MS;
      else if (event.key === 'j') move(1);
      else if (event.key === 'k') move(-1);
      else if (event.key === '?') open(help(letters));
      else return;
      event.preventDefault();
    };
    addEventListener('keydown', key);
    return () => removeEventListener('keydown', key);
  }, [places.map(({ path }) => path).join()]);
  return null;
}

/** The keys of the console: `?` shows them, `g` and a letter lead to a page, `j` and `k` go through rows. */
export const shortcutsHere = (places: readonly Place[]): VNode => use(Shortcuts, { places });
