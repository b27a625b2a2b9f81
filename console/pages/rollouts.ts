import { a, use, type VNode } from '../base/elements.ts';
import { type Loading, useLoad } from '../base/load.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, type Page, readPage } from '../base/requests.ts';
import type { RolloutRow } from '../base/rows.ts';
import { mayChange } from '../base/session.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { asked, type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { ROLLOUT_OPERATIONS, ROLLOUT_STATES, rolloutColumns } from '../parts/rollout-rows.ts';
import { card, empty } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const LIMIT = 50;
/** Milliseconds between two reads. The feed reports single rollouts only. */
const READ_EVERY = 5_000;

const FILTERS: readonly Filter[] = [
  { name: 'state', label: 'State', choices: ROLLOUT_STATES.map((state) => [state, state] as const) },
  {
    name: 'operation',
    label: 'Operation',
    choices: ROLLOUT_OPERATIONS.map((one) => [one, operationName(one)] as const),
  },
  { name: 'deviceId', label: 'Device' },
];
const filters = ROLE === 'operator' ? [...FILTERS, { name: 'applicationId', label: 'Application' }] : FILTERS;

const startLink = (): VNode | null =>
  ROLE === 'application' && mayChange('device')
    ? a({ class: 'button main', href: addressOf(['rollouts', 'new']) }, 'Start a rollout')
    : null;

function none(): VNode {
  if (filters.some(({ name }) => place.value.query[name] !== undefined))
    return empty({ title: 'No matching rollouts', text: 'Remove a filter to see more.' });
  return empty(
    {
      title: 'No rollouts yet',
      text: 'A rollout carries out one operation for many devices, in stages, and stops itself when too many fail.',
    },
    startLink(),
  );
}

const CSV = [
  'rolloutId',
  'applicationId',
  'label',
  'operation',
  'subject',
  'state',
  'reason',
  'stage',
  'stages',
  'devices',
  'counts',
  'createdAt',
  'startedAt',
  'endedAt',
] as const satisfies readonly (keyof RolloutRow)[];

function Rollouts() {
  const query = { ...asked(filters.map(({ name }) => name)), limit: LIMIT };
  const page: Loading<Page<RolloutRow>> = useLoad(
    JSON.stringify(query),
    (signal) =>
      readPage<RolloutRow>(operation({ operator: 'listFleetRollouts', application: 'listRollouts' }), 'rollouts', {
        query,
        signal,
      }),
    { every: READ_EVERY },
  );
  return [
    head({
      title: 'Rollouts',
      about: 'One operation for many devices, in stages. A rollout stops itself when too many devices fail.',
      actions: startLink(),
    }),
    filterBar(filters),
    card(
      {
        title: 'Newest first',
        bare: true,
        side: csvButton<RolloutRow>({
          name: 'rollouts',
          columns: CSV,
          page: (after, signal) =>
            readPage(operation({ operator: 'listFleetRollouts', application: 'listRollouts' }), 'rollouts', {
              query: { ...query, after, limit: EXPORT_LIMIT },
              signal,
            }),
        }),
      },
      loaded(
        page,
        ({ rows, next }) =>
          rows.length === 0 && next === null
            ? none()
            : [
                rowsTable({
                  label: 'Rollouts',
                  columns: rolloutColumns(),
                  rows,
                  keyOf: ({ rolloutId }) => rolloutId,
                }),
                pager(next, rows.length),
              ],
        { lines: 10 },
      ),
    ),
  ];
}

export const rolloutsPage = (): VNode => use(Rollouts, {});
