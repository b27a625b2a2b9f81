import { a, button, type Child, div, small, use, type VNode } from '../base/elements.ts';
import { readEndpointDeliveries } from '../base/endpoints.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, place } from '../base/place.ts';
import type { Endpoint, EndpointDelivery } from '../base/rows.ts';
import { deliveryBadge } from './badges.ts';
import { lastAnswer } from './delivery-rows.ts';
import { asked, type Filter, filterBar } from './filters.ts';
import { loaded } from './loaded.ts';
import { pager } from './pager.ts';
import { age, card, empty, idLink, nothing, said, until } from './show.ts';
import { type Column, rowsTable } from './table.ts';

const LIMIT = 50;
/** Milliseconds after which the first page is read again. */
const EVERY_MS = 5_000;

const STATES: readonly EndpointDelivery['status'][] = [
  'pending',
  'blocked',
  'delivered',
  'exhausted',
  'gone',
  'skipped',
];
const FILTERS: readonly Filter[] = [
  { name: 'status', label: 'State', choices: STATES.map((state) => [state, state] as const) },
  { name: 'deviceId', label: 'Device', hint: 'A deviceId.' },
];

/** The address of the page of events that begins with an event. */
export const addressOfEvent = (sequence: number, deviceId: string | null): string =>
  addressOf(['events'], { deviceId: deviceId ?? undefined, after: String(sequence + 1) });

/** The reason for which a delivery is blocked. */
function blockedWords({ status, blockedBy, deviceId }: EndpointDelivery, { enabled, ordered }: Endpoint): Child {
  if (status !== 'blocked') return null;
  if (!enabled) return small(null, 'waits until the endpoint is enabled');
  if (ordered !== 'device' || blockedBy === null) return null;
  return small(null, 'waits for ', a({ href: addressOfEvent(blockedBy, deviceId) }, `event ${blockedBy}`));
}

/** The state of a delivery, with the reason for which it is not through. */
export const deliveryState = (row: EndpointDelivery, endpoint: Endpoint): VNode =>
  div(
    null,
    deliveryBadge(row.status),
    row.status !== 'delivered' && lastAnswer(row) !== ''
      ? small({ class: row.status === 'pending' ? '' : 'fault' }, said(lastAnswer(row)))
      : null,
    row.status === 'pending' && row.attempts > 0 && row.nextAttemptAt !== null
      ? small(null, 'next attempt ', until(row.nextAttemptAt))
      : null,
    blockedWords(row, endpoint),
  );

type Skip = ((row: EndpointDelivery, status: 'pending' | 'blocked') => void) | null;

const columns = (endpoint: Endpoint, skip: Skip): Column<EndpointDelivery>[] => [
  {
    name: 'Event',
    kind: 'lead',
    cell: ({ type, sequence, deviceId }) => [
      a({ href: addressOfEvent(sequence, deviceId) }, said(type)),
      small({ class: 'mono' }, String(sequence)),
    ],
  },
  {
    name: 'Device',
    cell: ({ deviceId }) => (deviceId === null ? nothing() : idLink(addressOf(['devices', deviceId]), deviceId)),
  },
  { name: 'State', cell: (row) => deliveryState(row, endpoint) },
  { name: 'Attempts', kind: 'right', cell: ({ attempts }) => String(attempts) },
  { name: 'Taken', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
  {
    name: '',
    kind: 'short',
    cell: (row) => {
      const { status } = row;
      return skip !== null && (status === 'pending' || status === 'blocked')
        ? button({ type: 'button', class: 'tiny', onClick: () => skip(row, status) }, 'Skip')
        : null;
    },
  },
];

interface Deliveries {
  endpoint: Endpoint;
  /** Increases when something was done to deliveries. */
  round: number;
  /** Gives up a delivery; null for users who may not. */
  skip: Skip;
}

function Deliveries({ endpoint, round, skip }: Deliveries): Child {
  const { endpointId } = endpoint;
  const { after, ...filter } = asked(['status', 'deviceId']);
  const before = after !== undefined && /^\d{1,15}$/.test(after) ? Number(after) : undefined;
  const key = JSON.stringify({ endpointId, filter, before, round });
  const page = useLoad(
    key,
    (signal) => readEndpointDeliveries(endpointId, { ...filter, before, limit: LIMIT }, signal),
    before === undefined ? { every: EVERY_MS } : {},
  );
  const isFiltered = Object.keys(place.value.query).some((name) => name === 'status' || name === 'deviceId');
  return [
    filterBar(FILTERS),
    card(
      { title: 'Deliveries, newest first', bare: true },
      loaded(page, ({ rows, next }) =>
        rows.length === 0 && next === null
          ? empty({
              title: isFiltered ? 'No matching deliveries' : 'No deliveries yet',
              text: isFiltered
                ? 'Remove a filter to see the others.'
                : 'The endpoint gets the events that come from now on. A replay sends it older ones.',
            })
          : [
              rowsTable({
                label: 'Deliveries',
                columns: columns(endpoint, skip),
                rows,
                keyOf: ({ sequence }) => sequence,
              }),
              pager(next === null ? null : String(next), rows.length),
            ],
      ),
    ),
  ];
}

/** The deliveries to an endpoint, with their filters. */
export const deliveriesOf = (what: Deliveries): VNode => use(Deliveries, { ...what, key: what.endpoint.endpointId });
