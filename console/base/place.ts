import { computed, signal } from '@preact/signals';

/**
 * The path of the service as the browser sees it: the part before `/console`, without a slash at its end. Behind a
 * proxy it can be any path, so the service does not know it; it puts the path relative to the page's own address into
 * the page.
 */
export const ROOT = new URL(document.documentElement.dataset['root'] ?? './', document.baseURI).pathname.replace(
  /\/$/,
  '',
);
const HOME = `${ROOT}/console`;

/** The role of the user: the operator at the administration listener, or an application at the API listener. */
export const ROLE: 'operator' | 'application' =
  document.documentElement.dataset['role'] === 'application' ? 'application' : 'operator';

export type Query = Record<string, string | undefined>;

interface Place {
  /** The segments of the address after `/console`, decoded. */
  path: readonly string[];
  query: Readonly<Record<string, string>>;
}

/** Decodes a segment of a path; one that cannot be decoded stays as it is. */
export function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function read(): Place {
  const path = location.pathname.slice(HOME.length).split('/').filter(Boolean).map(decode);
  return { path, query: Object.fromEntries(new URLSearchParams(location.search)) };
}

const current = signal(read());
export const place = computed(() => current.value);

/** Increases when the user goes to another page, or back to one. It stays when only a filter changes. */
export const moves = signal(0);

function toSearch(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** Makes the address of a page from its segments and its filters. */
export const addressOf = (path: readonly (string | number)[], query: Query = {}): string =>
  `${[HOME, ...path.map((segment) => encodeURIComponent(segment))].join('/')}${toSearch(query)}`;

/** How far the pages of the history were scrolled, by the keys of their entries. */
const scrolled = new Map<string, number>();
let here = '';
const keyOf = (state: unknown): string => (state as { key?: string } | null)?.key ?? '';

/** Milliseconds for which a page may take to become as long as it was. */
const GROWTH_MS = 5_000;

/** Scrolls to where the user was, once the page is long enough, unless the user scrolls or goes elsewhere before. */
function scrollBack(to: number): void {
  scrollTo(0, 0);
  if (to === 0) return;
  const stop = new AbortController();
  const give = { signal: stop.signal, passive: true, once: true } as const;
  const end = (): void => stop.abort();
  for (const name of ['wheel', 'touchstart', 'keydown', 'pointerdown', 'popstate']) addEventListener(name, end, give);
  const began = performance.now();
  const before = moves.peek();
  const step = (): void => {
    if (stop.signal.aborted || moves.peek() !== before) return;
    const isLong = document.documentElement.scrollHeight - innerHeight >= to;
    if (isLong || performance.now() - began > GROWTH_MS) {
      scrollTo(0, to);
      end();
    } else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** Goes to an address. This adds an entry to the history, unless `replace` is set. */
export function go(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(history.state, '', address);
  else {
    scrolled.set(here, scrollY);
    here = crypto.getRandomValues(new Uint32Array(2)).join('-');
    history.pushState({ key: here }, '', address);
    scrollTo(0, 0);
    moves.value = moves.peek() + 1;
  }
  current.value = read();
}

/** Changes filters of the current page, and goes back to the first page of its list. */
export function filter(changes: Query, { keepsPage = false } = {}): void {
  const query: Query = { ...current.value.query, ...changes };
  if (!keepsPage) delete query['after'];
  go(addressOf(current.value.path, query), { replace: true });
}

/**
 * Handles links to pages of the console without loading the page again. The browser handles other links, and those that
 * open a new tab.
 */
export function followLinks(): void {
  // The browser would scroll before the page has its rows.
  history.scrollRestoration = 'manual';
  here = keyOf(history.state);
  addEventListener('popstate', ({ state }) => {
    scrolled.set(here, scrollY);
    here = keyOf(state);
    moves.value = moves.peek() + 1;
    current.value = read();
    scrollBack(scrolled.get(here) ?? 0);
  });
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest('a[href]') : null;
    if (!(link instanceof HTMLAnchorElement) || link.target !== '' || link.hasAttribute('download')) return;
    const isOurs = link.origin === location.origin && (link.pathname === HOME || link.pathname.startsWith(`${HOME}/`));
    if (!isOurs) return;
    event.preventDefault();
    go(link.pathname + link.search);
  });
}
