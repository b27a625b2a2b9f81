import { div, small, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { operation, readPage } from '../base/requests.ts';
import type { OwnChange } from '../base/rows.ts';
import { detailsOf, requestOf } from '../parts/changes.ts';
import { asked, filterBar, periodFilters } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { badge, card, empty, id, moment, said } from '../parts/show.ts';
import { type Column, rowsTable } from '../parts/table.ts';

const LIMIT = 50;

const COLUMNS: Column<OwnChange>[] = [
  { name: 'When', kind: 'short', cell: ({ at }) => moment(at) },
  {
    name: 'Who',
    cell: ({ by, address }) => div(null, said(by), address === null ? null : small(null, id(address))),
  },
  {
    name: 'What',
    kind: 'lead',
    cell: (row) => [said(row.sentence), detailsOf(row.details), requestOf(row)],
  },
  {
    name: 'Answer',
    cell: ({ status }) =>
      status === null ? null : badge(status < 300 ? 'good' : status < 500 ? 'warn' : 'bad', String(status)),
    isEmpty: ({ status }) => status === null,
  },
];

function OwnAudit() {
  const query = { ...asked(['since', 'until']), limit: LIMIT };
  const page = useLoad(JSON.stringify(query), (signal) =>
    readPage<OwnChange>(operation('listOwnAudit'), 'entries', { query, signal }),
  );
  return [
    head({
      title: 'Audit log',
      about: 'The changes that this application has made in itself, and those that administration has made in it.',
    }),
    filterBar(periodFilters()),
    card(
      { title: 'Changes', bare: true },
      loaded(page, ({ rows, next }) =>
        rows.length === 0
          ? empty({
              title: 'No changes',
              text: 'Here each change of settings, keys, software and rollouts is recorded. Commands to devices are transactions instead.',
            })
          : [
              rowsTable({ label: 'Changes', rows, keyOf: ({ auditId }) => auditId, columns: COLUMNS }),
              pager(next, rows.length),
            ],
      ),
    ),
  ];
}

/** The audit log of an application: its own changes, and those of administration without the names of people. */
export const ownAuditPage = (): VNode => use(OwnAudit, {});
