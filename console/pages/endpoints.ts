import { URL_SETTINGS } from '../base/contract.ts';
import { a, button, type Child, div, small, use, type VNode } from '../base/elements.ts';
import { endpointName, endpointWords, upTo } from '../base/endpoint-words.ts';
import { readEndpoints } from '../base/endpoints.ts';
import { duration } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import type { Endpoint, EndpointList } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { badge, card, empty, nothing, outside, said } from '../parts/show.ts';
import { shareBar } from '../parts/success-bar.ts';
import { type Column, rowsTable } from '../parts/table.ts';
import { addEndpoint } from './endpoint-actions.ts';
import { testEndpoint } from './endpoint-test.ts';

/** Milliseconds after which the states are read again. */
const EVERY_MS = 10_000;

type Setting = EndpointList['settings'][number];
/** A place to which events go: an endpoint, or the URL of a setting. */
type Place = Endpoint | Setting;

const isEndpoint = (place: Place): place is Endpoint => 'endpointId' in place;

/** A cell that only endpoints have. */
const ofEndpoint = (cell: (endpoint: Endpoint) => Child) => ({
  cell: (place: Place): Child => (isEndpoint(place) ? cell(place) : nothing()),
  isEmpty: (place: Place): boolean => !isEndpoint(place),
});

const waiting = (status: 'pending' | 'blocked') => ({
  kind: 'right' as const,
  ...ofEndpoint(({ endpointId, state }) =>
    state[status] === 0
      ? nothing()
      : a({ href: addressOf(['endpoints', endpointId], { status }) }, upTo(state[status])),
  ),
});

const columns = (done: () => void): Column<Place>[] => [
  {
    name: 'Place',
    kind: 'lead',
    cell: (place) => [
      isEndpoint(place)
        ? a({ href: addressOf(['endpoints', place.endpointId]) }, said(endpointName(place)))
        : a({ href: addressOf(['settings']) }, `Setting ${place.setting}`),
      small(null, outside(place.url)),
    ],
  },
  {
    name: 'Types',
    cell: (place) =>
      isEndpoint(place)
        ? div(
            null,
            place.types.length === 0 ? 'all' : said(place.types.join(', ')),
            place.ordered === 'device' ? small(null, 'each device in order') : null,
          )
        : small(null, URL_SETTINGS[place.setting]),
  },
  {
    name: 'State',
    cell: (place) => {
      if (!isEndpoint(place))
        return a({ href: addressOf(['webhooks'], { setting: place.setting }) }, 'See its delivery log');
      const { tone, word, sentence } = endpointWords(place);
      return div(null, badge(tone, word), small({ class: tone === 'bad' ? 'fault' : '' }, said(sentence)));
    },
  },
  { name: 'Last 24 hours', ...ofEndpoint(({ state }) => shareBar(state)) },
  {
    name: 'Behind',
    kind: 'short',
    ...ofEndpoint(({ state }) => (state.seconds === 0 ? nothing() : duration(state.seconds * 1_000))),
  },
  { name: 'Pending', ...waiting('pending') },
  { name: 'Blocked', ...waiting('blocked') },
  {
    name: '',
    kind: 'short',
    cell: (place) =>
      isEndpoint(place) && place.enabled && mayChange('application')
        ? button({ type: 'button', class: 'tiny', onClick: () => testEndpoint(place, done) }, 'Test')
        : null,
  },
];

function Endpoints() {
  const list = useLoad('endpoints', readEndpoints, { every: EVERY_MS });
  return [
    head({
      title: 'Endpoints',
      about:
        'The places to which the events of this application are sent: its endpoints, and the URLs of its settings.',
      actions: mayChange('application')
        ? button({ type: 'button', class: 'main', onClick: () => addEndpoint(list.again) }, 'Add an endpoint')
        : null,
    }),
    card(
      { title: 'Places', bare: true },
      loaded(list, ({ endpoints, settings }) => {
        const rows: Place[] = [...endpoints, ...settings.filter(({ url }) => url !== null)];
        return rows.length === 0
          ? empty({
              title: 'Events are sent nowhere yet',
              text: 'An endpoint is a URL that gets the events of the types that you choose, in order if you wish. The events are also in the stream, from which programs can read them.',
            })
          : rowsTable({
              label: 'Places',
              columns: columns(list.again),
              rows,
              keyOf: (place) => (isEndpoint(place) ? place.endpointId : place.setting),
            });
      }),
    ),
  ];
}

/** The places to which events of the application are sent. */
export const endpointsPage = (): VNode => use(Endpoints, {});
