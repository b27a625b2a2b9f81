import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import {
  a,
  aside,
  button,
  type Child,
  div,
  h2,
  li,
  main,
  nav,
  p,
  span,
  ul,
  use,
  type VNode,
} from '../base/elements.ts';
import { feedState } from '../base/feed.ts';
import { visible } from '../base/format.ts';
import { GUIDES } from '../base/guides.ts';
import { addressOf, place, ROLE, ROOT } from '../base/place.ts';
import { type Signed, session, signOut } from '../base/session.ts';
import { isAlwaysUtc, zone, zoneName } from '../base/zone.ts';
import { chooseZone } from '../base/zone-choice.ts';
import { alarmsHere } from './alarms.ts';
import { dialogsHere } from './dialog.ts';
import { type IconName, icon, mark } from './icon.ts';
import { paletteHere } from './palette.ts';
import { searchHere } from './search.ts';
import { shortcutsHere } from './shortcuts.ts';
import { toastsHere } from './toast.ts';
import { whose } from './whose.ts';

interface Entry {
  path: string;
  name: string;
  icon: IconName;
}

const FLEET: readonly Entry[] = [
  { path: 'devices', name: 'Devices', icon: 'devices' },
  { path: 'transactions', name: 'Transactions', icon: 'transactions' },
  { path: 'rollouts', name: 'Rollouts', icon: 'rollouts' },
  { path: 'webhooks', name: 'Webhooks', icon: 'webhooks' },
];
const SOFTWARE: Entry = { path: 'software', name: 'Software', icon: 'software' };
const OPERATOR: readonly (readonly [name: string, entries: readonly Entry[]])[] = [
  ['Fleet', [{ path: '', name: 'Overview', icon: 'overview' }, ...FLEET, SOFTWARE]],
  [
    'Service',
    [
      { path: 'developers', name: 'Developers', icon: 'developers' },
      { path: 'people', name: 'People', icon: 'people' },
      { path: 'audit', name: 'Audit log', icon: 'audit' },
      { path: 'health', name: 'Health', icon: 'health' },
      { path: 'settings', name: 'Settings', icon: 'settings' },
    ],
  ],
];
const APPLICATION: typeof OPERATOR = [
  [
    'Application',
    [
      { path: '', name: 'Start', icon: 'overview' },
      ...FLEET,
      { path: 'endpoints', name: 'Endpoints', icon: 'endpoints' },
      { path: 'events', name: 'Events', icon: 'events' },
      SOFTWARE,
      { path: 'settings', name: 'Settings', icon: 'developers' },
      { path: 'audit', name: 'Audit log', icon: 'audit' },
      { path: 'people', name: 'People', icon: 'people' },
    ],
  ],
];

/** The places that the user may go to: the people of a developer are for their admin only. */
const isOffered = ({ path }: Entry): boolean =>
  ROLE === 'operator' || path !== 'people' || session.value?.member?.role === 'admin';

const offered = (): Entry[] =>
  (ROLE === 'operator' ? OPERATOR : APPLICATION).flatMap(([, entries]) => entries).filter(isOffered);

const isOpen = signal(false);

function Places() {
  const [first = ''] = place.value.path;
  const here = first === 'device-actions' ? 'devices' : first;
  return (ROLE === 'operator' ? OPERATOR : APPLICATION).map(([name, entries]) =>
    div(
      { key: name },
      h2(null, name),
      ul(
        null,
        entries.filter(isOffered).map((entry) =>
          li(
            { key: entry.path },
            a(
              {
                href: addressOf(entry.path === '' ? [] : [entry.path]),
                ...(entry.path === here && { 'aria-current': 'page' }),
                onClick: () => (isOpen.value = false),
              },
              icon(entry.icon),
              entry.name,
            ),
          ),
        ),
      ),
    ),
  );
}

const WORDS = {
  off: ['', 'Not live on this page'],
  opening: ['', 'Connecting'],
  live: ['is-live', 'Live'],
  away: ['is-away', 'Service unreachable, trying again'],
  full: ['is-away', 'Too many live viewers, trying again'],
  hidden: ['', 'Paused'],
} as const;

function Live() {
  const [kind, words] = WORDS[feedState.value];
  return span({ class: `live ${kind}`, role: 'status' }, span({ class: 'word' }, words));
}

/** The zone of all times on all pages, and the button that changes it. */
function ZoneSwitch() {
  if (isAlwaysUtc()) return div(null, 'Times in UTC');
  const isUtc = zone.value === 'utc';
  return div(
    { class: 'row' },
    span(null, isUtc ? 'Times in UTC' : `Times in local time (${zoneName()})`),
    button(
      { type: 'button', class: 'tiny', onClick: () => chooseZone(isUtc ? 'local' : 'utc') },
      isUtc ? 'Show local time' : 'Show UTC',
    ),
  );
}

/** The person who is signed in to administration, with the role, which decides what the pages offer. */
function whoIsHere(person: Signed | null): Child {
  if (!person) return null;
  const { personId, name, role } = person;
  if (personId === null) return 'Administrator token';
  return [a({ href: addressOf(['people', personId]) }, visible(name ?? personId)), `, ${role}`];
}

function Side() {
  const { applicationId, person = null, member = null } = session.value ?? {};
  return aside(
    { class: `side ${isOpen.value ? 'is-open' : ''}`, id: 'places' },
    a({ class: 'brand', href: addressOf([]) }, mark(), span(null, 'Lapel', span({ class: 'unseen' }, ' console'))),
    nav({ 'aria-label': 'Pages', class: 'stack' }, use(Places, {})),
    div(
      { class: 'foot' },
      p({ class: 'wrap' }, applicationId ? whose() : whoIsHere(person)),
      member ? p({ class: 'wrap' }, visible(member.name), `, ${member.role}`) : null,
      use(ZoneSwitch, {}),
      button({ type: 'button', class: 'tiny', onClick: () => void signOut() }, 'Sign out'),
      span({ class: 'quiet' }, `Lapel ${document.documentElement.dataset['version'] ?? ''}`),
    ),
  );
}

const DOCS = document.documentElement.dataset['docs'] || `${ROOT}/docs`;

/** Leads to the document about the page. */
function Guide() {
  const guide = GUIDES[ROLE][place.value.path[0] ?? ''];
  return guide === undefined
    ? null
    : nav(
        { 'aria-label': 'Documents' },
        a({ class: 'guide small', href: `${DOCS}/${guide}`, target: '_blank', rel: 'noreferrer' }, 'Guide'),
      );
}

function Top() {
  return div(
    { class: 'top' },
    button(
      {
        type: 'button',
        class: 'menu',
        'aria-expanded': isOpen.value,
        'aria-controls': 'places',
        'aria-label': 'Pages',
        onClick: () => (isOpen.value = !isOpen.value),
      },
      icon('menu'),
    ),
    searchHere(),
    ROLE === 'operator' ? alarmsHere() : null,
    paletteHere(offered()),
    shortcutsHere(offered()),
    use(Guide, {}),
    use(Live, {}),
  );
}

/** The frame around every page: navigation, search, and the state of the feed. */
export function Layout({ page }: { page: Child }) {
  useEffect(() => {
    const leave = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') isOpen.value = false;
    };
    const outside = (event: MouseEvent): void => {
      if (isOpen.peek() && event.target instanceof Element && !event.target.closest('.side, .menu'))
        isOpen.value = false;
    };
    addEventListener('keydown', leave);
    addEventListener('click', outside);
    return () => {
      removeEventListener('keydown', leave);
      removeEventListener('click', outside);
    };
  }, []);
  return div(
    null,
    a({ class: 'skip', href: '#page', onClick: skip }, 'Skip to the content'),
    div(
      { class: 'frame' },
      use(Side, {}),
      div({ class: 'body' }, use(Top, {}), main({ id: 'page', tabIndex: -1 }, page)),
    ),
    dialogsHere(),
    toastsHere(),
  );
}

function skip(event: MouseEvent): void {
  event.preventDefault();
  document.querySelector<HTMLElement>('#page')?.focus();
}

export const layout = (page: Child): VNode => use(Layout, { page });
