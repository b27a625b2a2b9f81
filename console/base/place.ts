import { computed, signal } from '@preact/signals';

/**
 * Where the service is, as the browser reaches it: what is in front of `/console`, without a slash at its end. A proxy may
 * have put it anywhere: the page says where it is relative to the address that it was loaded by.
 */
export const ROOT = new URL(document.documentElement.dataset['root'] ?? './', document.baseURI).pathname.replace(
  /\/$/,
  '',
);
const HOME = `${ROOT}/console`;

/** Who looks: the operator at the administration listener, or an application at the API listener. */
export const ROLE: 'operator' | 'application' =
  document.documentElement.dataset['role'] === 'application' ? 'application' : 'operator';

export type Query = Record<string, string | undefined>;

interface Place {
  /** Segments behind `/console`, decoded. */
  path: readonly string[];
  query: Readonly<Record<string, string>>;
}

/** A segment of a path, as it is meant; one that cannot be decoded is as it came. */
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

/** Rises when one goes to another page, or back to one; not when a filter of the page that is shown changes. */
export const moves = signal(0);

function toSearch(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== '') parameters.set(name, value);
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}

/** The address of a page: its segments, and what filters it has. */
export const addressOf = (path: readonly (string | number)[], query: Query = {}): string =>
  `${[HOME, ...path.map((segment) => encodeURIComponent(segment))].join('/')}${toSearch(query)}`;

/** Goes there; a new entry in the history unless it only changes what is there already. */
export function go(address: string, { replace = false } = {}): void {
  if (replace) history.replaceState(null, '', address);
  else {
    history.pushState(null, '', address);
    scrollTo(0, 0);
    moves.value = moves.peek() + 1;
  }
  current.value = read();
}

/** Changes filters of the page that is shown. A list begins anew by it. */
export function filter(changes: Query, { keepsPage = false } = {}): void {
  const query: Query = { ...current.value.query, ...changes };
  if (!keepsPage) delete query['after'];
  go(addressOf(current.value.path, query), { replace: true });
}

/** Links to pages are followed without loading anything anew; the others, and those for a new tab, are the browser's. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    moves.value = moves.peek() + 1;
    current.value = read();
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
