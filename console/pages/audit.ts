import { a, code, div, small, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, decode } from '../base/place.ts';
import { operation, readPage } from '../base/requests.ts';
import type { AuditEntry } from '../base/rows.ts';
import { asked, type Filter, filterBar, sinceFilter } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { badge, card, empty, id, moment, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const FILTERS: readonly Filter[] = [
  { name: 'actor', label: 'Who' },
  { name: 'resource', label: 'Resource', placeholder: 'Resource, for example a deviceId' },
];
const LIMIT = 50;

/** The address of the page that shows a resource of the audit log; null when there is no such page. */
function pageFor(resource: string): string | null {
  const found =
    /^\/admin\/v1\/(devices|developers|applications|rollouts)\/([^/?]+)/.exec(resource) ??
    /^\/v1\/applications\/[^/?]+\/(rollouts)\/(rol_[^/?]+)/.exec(resource);
  return found ? addressOf([found[1]!, decode(found[2]!)]) : null;
}

/** The method of a request, or the whole action when it names no path: `ROLLOUT paused`. */
const verbOf = (action: string): string => {
  const [verb = '', object = ''] = action.split(' ');
  return object.startsWith('/') ? verb : action;
};

function Audit() {
  const query = { ...asked([...FILTERS.map(({ name }) => name), 'since', 'until']), limit: LIMIT };
  const page = useLoad(JSON.stringify(query), (signal) =>
    readPage<AuditEntry>(operation('listAudit'), 'entries', { query, signal }),
  );
  return [
    head({
      title: 'Audit log',
      about: 'Who changed what, and when. Commands to devices are recorded as transactions instead.',
    }),
    filterBar([...FILTERS, sinceFilter()]),
    card(
      { title: 'Changes', bare: true },
      loaded(page, ({ rows, next }) =>
        rows.length === 0
          ? empty({
              title: 'No changes',
              text: 'Here every change is recorded that is made through the console, the command line or the administration API, and every change that an application makes to itself.',
            })
          : [
              rowsTable({
                label: 'Changes',
                rows,
                keyOf: ({ auditId }) => auditId,
                columns: [
                  { name: 'When', kind: 'short', cell: ({ at }) => moment(at) },
                  {
                    name: 'Who',
                    cell: ({ actor, address }) =>
                      div(
                        null,
                        said(actor.kind),
                        actor.name === null ? null : small(null, id(actor.name)),
                        address === null ? null : small(null, id(address)),
                      ),
                  },
                  {
                    name: 'What',
                    kind: 'lead',
                    cell: ({ action, resource, details }) => {
                      const href = pageFor(resource);
                      return div(
                        null,
                        code(null, verbOf(action)),
                        ' ',
                        href === null
                          ? code({ class: 'wrap' }, visible(resource))
                          : a({ href, class: 'wrap mono' }, visible(resource)),
                        details === null ? null : small(null, visible(JSON.stringify(details))),
                      );
                    },
                  },
                  {
                    name: 'Answer',
                    cell: ({ actor, status }) =>
                      status === null
                        ? actor.kind === 'service'
                          ? null
                          : badge('bad', 'not answered')
                        : badge(status < 300 ? 'good' : status < 500 ? 'warn' : 'bad', String(status)),
                    isEmpty: ({ actor, status }) => status === null && actor.kind === 'service',
                  },
                  {
                    name: 'Request',
                    cell: ({ requestId }) => (requestId === null ? null : small(null, id(requestId))),
                    isEmpty: ({ requestId }) => requestId === null,
                  },
                ],
              }),
              pager(next, rows.length),
            ],
      ),
    ),
  ];
}

export const auditPage = (): VNode => use(Audit, {});
