import { a, type Child, code, details, div, li, small, span, summary, ul, use, type VNode } from '../base/elements.ts';
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
export function detailsOf(stored: Record<string, unknown> | null): Child {
  if (stored === null) return null;
  const { before, after, replaced, ...others } = stored as Record<string, unknown> & { replaced?: string[] };
  const known = Object.entries(others).filter(([, value]) => value !== null);
  const isChange = typeof before === 'object' && typeof after === 'object' && before !== null && after !== null;
  return [
    isChange ? valuesOf({ before: before as Record<string, unknown>, after: after as Record<string, unknown> }) : null,
    replaced ? small(null, 'replaced: ', replaced.map(visible).join(', ')) : null,
    known.length === 0
      ? null
      : small(null, known.map(([name, value]) => `${visible(name)}: ${shown(value)}`).join(', ')),
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

/** The request behind a change, for those who want to repeat or to search it. */
export const requestOf = ({
  action,
  resource,
  requestId,
}: Pick<AuditEntry, 'action' | 'resource' | 'requestId'>): VNode =>
  details(
    { class: 'small quiet' },
    summary(null, 'Request'),
    div(null, code({ class: 'wrap' }, visible(action))),
    div(null, code({ class: 'wrap' }, visible(resource))),
    div(null, 'request ', id(requestId)),
  );

export const whatChanged = (entry: AuditEntry): VNode => {
  const { sentence, objects, details: more } = entry;
  return div(
    null,
    said(sentence),
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
    detailsOf(more),
    requestOf(entry),
  );
};

/** Whether a change was not asked for by a request, so that there is no answer. */
const isUnasked = ({ actor, status }: AuditEntry): boolean =>
  status === null && (actor.kind === 'service' || actor.kind === 'machine');

/** Whether somebody has only read something that is recorded. */
const isRead = ({ action }: Pick<AuditEntry, 'action'>): boolean => action.startsWith('GET ');

/** The status of the answer, if there was a request. A read that goes on, such as a live view, has none yet. */
export const answerOf = (entry: AuditEntry): VNode | null => {
  const { status } = entry;
  if (status === null && isRead(entry)) return badge('', 'read');
  if (status === null) return isUnasked(entry) ? null : badge('bad', 'not answered');
  return badge(status < 300 ? 'good' : status < 500 ? 'warn' : 'bad', String(status));
};

export const changeColumns: Column<AuditEntry>[] = [
  { name: 'When', kind: 'short', cell: ({ at }) => moment(at) },
  { name: 'Who', cell: whoChanged },
  {
    name: 'What',
    kind: 'lead',
    cell: whatChanged,
  },
  {
    name: 'Answer',
    cell: answerOf,
    isEmpty: isUnasked,
  },
];

/** The changes that are shown, and the entries that they are looked for in: reads of secrets are entries as well. */
const LIMIT = 10;
const LOOKED_AT = 40;

function History({ about }: { about: string }) {
  const page = useLoad(`history ${about}`, (signal) =>
    readPage<AuditEntry>(operation('listAudit'), 'entries', { query: { about, limit: LOOKED_AT }, signal }),
  );
  return card(
    {
      title: 'Changes and their authors',
      bare: true,
      side: a({ class: 'small', href: addressOf(['audit'], { about }) }, 'All changes'),
    },
    loaded(page, ({ rows }) => {
      const changes = rows.filter((entry) => !isRead(entry)).slice(0, LIMIT);
      return changes.length === 0
        ? div({ class: 'pad quiet' }, 'No change is recorded.')
        : rowsTable({
            label: 'Changes and their authors',
            rows: changes,
            keyOf: ({ auditId }) => auditId,
            columns: changeColumns,
          });
    }),
  );
}

/** A card with the last changes of an object. Only operators may read the audit log. */
export const historyOf = (kind: Object['kind'], name: string): VNode =>
  use(History, { about: `${kind}:${name}`, key: `${kind}:${name}` });
