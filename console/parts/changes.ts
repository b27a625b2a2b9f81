import { a, type Child, code, div, li, small, span, ul, use, type VNode } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, readPage } from '../base/requests.ts';
import type { AuditEntry } from '../base/rows.ts';
import { loaded } from './loaded.ts';
import { badge, card, id, moment, said } from './show.ts';
import { type Column, rowsTable } from './table.ts';

/** Changes of the audit log: who made them, what they changed, and from where. */

type Object = AuditEntry['objects'][number];

/** The address of the page of an object. */
export function pageOfObject({ kind, id: name }: Object): string {
  const page = kind === 'package' ? 'software' : kind === 'person' ? 'people' : `${kind}s`;
  return addressOf([page, name]);
}

/** The method of a request, or the whole action when it names no path: `ROLLOUT paused`. */
export const verbOf = (action: string): string => {
  const [verb = '', object = ''] = action.split(' ');
  return object.startsWith('/') ? verb : action;
};

const shown = (value: unknown): string => visible(typeof value === 'string' ? value : JSON.stringify(value));

/** The values before and after a change, one line for each. */
function valuesOf({ before, after }: { before: Record<string, unknown>; after: Record<string, unknown> }): Child {
  return ul(
    { class: 'values' },
    Object.keys(after).map((name) =>
      li(
        { key: name },
        span({ class: 'quiet' }, `${visible(name)}: `),
        code({ class: 'wrap' }, shown(before[name] ?? null)),
        ' → ',
        code({ class: 'wrap' }, shown(after[name] ?? null)),
      ),
    ),
  );
}

/** The details of a change: values before and after it, and whatever else was stored. */
export function detailsOf(details: Record<string, unknown> | null): Child {
  if (details === null) return null;
  const { before, after, replaced, ...others } = details as Record<string, unknown> & { replaced?: string[] };
  const isChange = typeof before === 'object' && typeof after === 'object' && before !== null && after !== null;
  return [
    isChange ? valuesOf({ before: before as Record<string, unknown>, after: after as Record<string, unknown> }) : null,
    replaced ? small(null, 'replaced: ', replaced.map(visible).join(', ')) : null,
    Object.keys(others).length === 0 ? null : small(null, visible(JSON.stringify(others))),
  ];
}

/** The author of a change in one line. */
export const authorOf = ({ actor, address }: AuditEntry): Child => [
  said(actor.kind),
  ' ',
  actor.displayName === null ? null : [said(actor.displayName), ' '],
  actor.name === null ? null : id(actor.name),
  address === null ? null : [' from ', id(address)],
  ' ',
];

const whoChanged = ({ actor, address }: AuditEntry): VNode =>
  div(
    null,
    said(actor.kind),
    actor.displayName === null ? null : span(null, ' ', said(actor.displayName)),
    actor.token === null ? null : small(null, 'token ', said(actor.token)),
    actor.name === null ? null : small(null, id(actor.name)),
    address === null ? null : small(null, id(address)),
  );

export const whatChanged = ({ action, resource, details, objects }: AuditEntry): VNode =>
  div(
    null,
    code(null, verbOf(action)),
    ' ',
    code({ class: 'wrap' }, visible(resource)),
    objects.length === 0
      ? null
      : small(
          null,
          objects.map((object, index) => [
            index === 0 ? null : ', ',
            object.kind,
            ' ',
            a({ href: pageOfObject(object), key: `${object.kind} ${object.id}` }, visible(object.name ?? object.id)),
          ]),
        ),
    detailsOf(details),
  );

/** Whether a change was not asked for by a request, so that there is no answer. */
const isUnasked = ({ actor, status }: AuditEntry): boolean =>
  status === null && (actor.kind === 'service' || actor.kind === 'machine');

/** The status of the answer, if there was a request. */
export const answerOf = (entry: AuditEntry): VNode | null => {
  const { status } = entry;
  if (status === null) return isUnasked(entry) ? null : badge('bad', 'not answered');
  return badge(status < 300 ? 'good' : status < 500 ? 'warn' : 'bad', String(status));
};

export const changeColumns: Column<AuditEntry>[] = [
  { name: 'When', kind: 'short', cell: ({ at }) => moment(at) },
  { name: 'Who', cell: whoChanged },
  {
    name: 'What',
    kind: 'lead',
    cell: (entry) => [whatChanged(entry), small(null, 'request ', id(entry.requestId))],
  },
  {
    name: 'Answer',
    cell: answerOf,
    isEmpty: isUnasked,
  },
];

const LIMIT = 10;

function History({ about }: { about: string }) {
  const page = useLoad(`history ${about}`, (signal) =>
    readPage<AuditEntry>(operation('listAudit'), 'entries', { query: { about, limit: LIMIT }, signal }),
  );
  return card(
    {
      title: 'Changes and their authors',
      bare: true,
      side: a({ class: 'small', href: addressOf(['audit'], { about }) }, 'All changes'),
    },
    loaded(page, ({ rows }) =>
      rows.length === 0
        ? div({ class: 'pad quiet' }, 'No change is recorded.')
        : rowsTable({
            label: 'Changes and their authors',
            rows,
            keyOf: ({ auditId }) => auditId,
            columns: changeColumns,
          }),
    ),
  );
}

/** A card with the last changes of an object. Only operators may read the audit log. */
export const historyOf = (kind: Object['kind'], name: string): VNode =>
  use(History, { about: `${kind}:${name}`, key: `${kind}:${name}` });
