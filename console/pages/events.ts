import { useSignal } from '@preact/signals';
import { button, details, p, small, summary, use, type VNode } from '../base/elements.ts';
import { counted, when } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { readNewest } from '../base/newest-events.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, RequestError, read } from '../base/requests.ts';
import type { EventList, StreamEvent } from '../base/rows.ts';
import { consumersCard } from '../parts/consumers.ts';
import { type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { json } from '../parts/json.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { bareId, card, empty, idLink, moment, nothing, said } from '../parts/show.ts';
import { type Column, rowsTable } from '../parts/table.ts';

/** Events of a page. */
const WANTED = 100;

const FILTERS: readonly Filter[] = [
  { name: 'types', label: 'Types', hint: 'As transaction.*, or several: transaction.failed, custom.sos.' },
  { name: 'deviceId', label: 'Device', hint: 'A deviceId.' },
];

type Page = Awaited<ReturnType<typeof readNewest>>;

/** Reads the newest events that match, or the newest of them before a number. */
function readEvents(filter: { types?: string; deviceId?: string }, before: string | undefined, signal: AbortSignal) {
  const readPage = (query: Record<string, string | number>): Promise<EventList | null> =>
    read<EventList>(operation('listEvents'), { query: { ...filter, ...query }, signal }).catch((error: unknown) => {
      if (error instanceof RequestError && error.code === 'EVENTS_REMOVED') return null;
      throw error;
    });
  return readNewest(readPage, { before: before === undefined ? undefined : Number(before), wanted: WANTED });
}

/** The body of an event, which is drawn when it is opened. */
function Body({ event }: { event: StreamEvent }) {
  const isOpen = useSignal(false);
  return details(
    { onToggle: (toggle) => (isOpen.value = toggle.currentTarget.open) },
    summary(null, 'Body'),
    isOpen.value ? json(event) : null,
  );
}

/** The deviceId in events that are about no device. */
const NO_DEVICE = '000000000000000';

const deviceOf = ({ data }: StreamEvent): string | null => {
  const { deviceId } = data as { deviceId?: unknown };
  return typeof deviceId === 'string' && deviceId !== NO_DEVICE ? deviceId : null;
};

const COLUMNS: Column<StreamEvent>[] = [
  {
    name: 'Event',
    kind: 'lead',
    cell: ({ type, eventId }) => [said(type), small({ class: 'mono' }, eventId)],
  },
  {
    name: 'Device',
    cell: (event) => {
      const deviceId = deviceOf(event);
      return deviceId === null ? nothing() : idLink(addressOf(['devices', deviceId]), deviceId);
    },
  },
  { name: 'Happened', kind: 'short', cell: ({ timestamp }) => moment(timestamp) },
  { name: 'Number', kind: 'short', cell: ({ sequence }) => bareId(sequence) },
  { name: 'Body', cell: (event) => use(Body, { event, key: event.eventId }) },
];

/** Says which part of the stream is shown. */
function shownWords({ rows, next }: Page, { isFirst, isFiltered }: { isFirst: boolean; isFiltered: boolean }): string {
  const match = isFiltered ? ' that match' : '';
  if (isFirst && next === null) return `All ${counted(rows.length, 'event')}${match} of those that are kept.`;
  const oldest = rows.at(-1);
  const which = isFirst
    ? `The newest ${counted(rows.length, 'event')}${match}`
    : `${counted(rows.length, 'event')}${match}`;
  const from = oldest === undefined ? '' : `, down to ${when(oldest.timestamp)}`;
  const rest = next === null ? 'There are no older ones.' : 'Older ones are on the next page.';
  return `${which}${from}. ${rest}`;
}

function Events() {
  const { types, deviceId, after } = place.value.query;
  const before = after !== undefined && /^\d{1,15}$/.test(after) ? after : undefined;
  const filter = { ...(types && { types: types.replaceAll(/\s/g, '') }), ...(deviceId && { deviceId }) };
  const isFiltered = Object.keys(filter).length > 0;
  const page = useLoad(JSON.stringify({ filter, before }), (signal) => readEvents(filter, before, signal));
  return [
    head({
      title: 'Events',
      about: 'Everything that happens to the devices of this application, as the stream has it for programs.',
    }),
    consumersCard(),
    filterBar(FILTERS, button({ type: 'button', class: 'plain', onClick: page.again }, 'Refresh')),
    card(
      { title: 'Events, newest first', bare: true },
      loaded(
        page,
        (found) => {
          const { rows, next } = found;
          if (rows.length === 0 && next === null)
            return empty({
              title: isFiltered ? 'No matching events' : 'No events yet',
              text: isFiltered
                ? 'Remove a filter to see the others.'
                : 'The results of commands are events, and so is what devices report.',
            });
          return [
            p({ class: 'pad quiet small' }, shownWords(found, { isFirst: before === undefined, isFiltered })),
            rows.length === 0
              ? p({ class: 'pad' }, 'None in this part of the stream matches.')
              : rowsTable({ label: 'Events', columns: COLUMNS, rows, keyOf: ({ eventId }) => eventId }),
            pager(next === null ? null : String(next), rows.length),
          ];
        },
        { lines: 10 },
      ),
    ),
  ];
}

/** The stream of events of the application. */
export const eventsPage = (): VNode => use(Events, {});
