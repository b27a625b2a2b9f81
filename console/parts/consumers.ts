import { a, button, code, div, li, p, ul, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { EventConsumer, EventConsumerList } from '../base/rows.ts';
import { fromServiceTime } from '../base/service-time.ts';
import { mayChange } from '../base/session.ts';
import { ask } from './dialog.ts';
import { loaded } from './loaded.ts';
import { age, badge, card, said, type Tone } from './show.ts';
import { type Column, rowsTable } from './table.ts';

/** Milliseconds between two reads. */
const EVERY = { every: 15_000 };

const TONES: Readonly<Record<EventConsumer['state'], readonly [tone: Tone, words: string]>> = {
  current: ['good', 'keeps up'],
  behind: ['warn', 'behind'],
  ending: ['bad', 'loses events soon'],
  lost: ['bad', 'lost events'],
  abandoned: ['', 'abandoned'],
};
const badgeOf = ({ state }: EventConsumer): VNode => badge(...TONES[state]);

const useConsumers = (): Loading<EventConsumerList> =>
  useLoad('consumers', (signal) => read<EventConsumerList>(operation('listConsumers'), { signal }), EVERY);

function deleteConsumer({ name }: EventConsumer, done: () => void): void {
  ask({
    title: `Delete ${name}?`,
    text: 'The events stay. A program that still uses this consumer begins again at the oldest event that is kept.',
    does: 'Delete',
    isBad: true,
    async act() {
      await send(operation('deleteConsumer', { consumer: name }));
      done();
      return 'The consumer was deleted.';
    },
  });
}

const COLUMNS: readonly Column<EventConsumer>[] = [
  { name: 'Consumer', kind: 'lead', cell: ({ name }) => code(null, name) },
  {
    name: 'State',
    cell: (one) => [badgeOf(one), one.attention === null ? null : div({ class: 'small' }, said(one.attention))],
  },
  {
    name: 'Not handled',
    kind: 'right',
    cell: ({ lag }) => (lag.events < 10_000 ? count(lag.events) : '10,000 or more'),
  },
  { name: 'Moved', kind: 'short', cell: ({ updatedAt }) => age(fromServiceTime(updatedAt)) },
];

function Consumers() {
  const list = useConsumers();
  const acts: Column<EventConsumer> = {
    name: '',
    kind: 'short',
    cell: (one) => button({ type: 'button', class: 'tiny', onClick: () => deleteConsumer(one, list.again) }, 'Delete'),
  };
  return card(
    { title: 'Consumers', bare: true },
    loaded(list, ({ consumers }) =>
      consumers.length === 0
        ? p({ class: 'pad quiet' }, 'No program keeps its place here.')
        : rowsTable({
            label: 'Consumers',
            rows: consumers,
            columns: mayChange('application') ? [...COLUMNS, acts] : COLUMNS,
            keyOf: ({ name }) => name,
          }),
    ),
  );
}

/** The programs that read the events of the application, and keep their places in the service. */
export const consumersCard = (): VNode => use(Consumers, {});

function Attention() {
  const { value } = useConsumers().state.value;
  const wrong = (value?.consumers ?? []).filter(({ attention }) => attention !== null);
  if (wrong.length === 0) return null;
  return card(
    { title: 'Programs that do not get their events' },
    ul(
      { class: 'stack tight', 'aria-label': 'Consumers that are behind' },
      wrong.map((one) =>
        li(
          { key: one.name, class: 'row alarm' },
          badgeOf(one),
          a({ href: addressOf(['events']) }, said(one.attention)),
        ),
      ),
    ),
  );
}

/** The consumers that somebody must look at; nothing when all keep up. */
export const consumersAttention = (): VNode => use(Attention, {});
