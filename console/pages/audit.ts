import { button, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { place } from '../base/place.ts';
import { operation, read, readPage } from '../base/requests.ts';
import type { AuditEntry, AuditVerification } from '../base/rows.ts';
import { useWatch } from '../base/watching.ts';
import { changeColumns } from '../parts/changes.ts';
import { act } from '../parts/dialog.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { asked, type Filter, filterBar, periodFilters } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { card, empty } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const FILTERS: readonly Filter[] = [
  { name: 'actor', label: 'Who' },
  { name: 'resource', label: 'Resource', hint: 'For example a deviceId.' },
  { name: 'about', label: 'Object', hint: 'For example device:490154203237518.' },
];
const LIMIT = 50;

const CSV = [
  'auditId',
  'at',
  'actor',
  'action',
  'resource',
  'status',
  'details',
  'address',
  'requestId',
  'objects',
] as const satisfies readonly (keyof AuditEntry)[];

/** The meaning of the seal of the end, in words; a wrong one is told as a broken entry. */
function saidOfSeal({ state, since, keyId }: AuditVerification['seal']): string {
  if (state === 'right')
    return `The end is sealed with the encryption key ${keyId}, and so was each since position ${since}.`;
  if (state === 'unknownKey')
    return `The end is sealed with the encryption key ${keyId}, which is not known here: the seal was not checked.`;
  return keyId === null
    ? 'The end has no seal: a thief who can write the database can write the chain anew. With an encryption key, the next entry gets one.'
    : 'The last entries have no seal: they were written without the encryption key.';
}

/** Checks that no entry was changed, removed or inserted, and says what was found. */
const check = (): void =>
  act(async () => {
    const { entries, broken, seal } = await read<AuditVerification>(operation('verifyAudit'));
    if (broken) throw new Error(`The entry at position ${broken.position} is not as it was written: ${broken.reason}.`);
    const found =
      entries === 1
        ? 'The only entry is as it was written.'
        : `All ${count(entries)} entries are as they were written.`;
    return `${found} ${saidOfSeal(seal)}`;
  });

function Audit() {
  const query = { ...asked([...FILTERS.map(({ name }) => name), 'since', 'until']), limit: LIMIT };
  const page = useLoad(JSON.stringify(query), (signal) =>
    readPage<AuditEntry>(operation('listAudit'), 'entries', { query, signal }),
  );
  // The first page follows the log; a page behind it stays as it is.
  useWatch(place.value.query['after'] === undefined ? 'audit' : '', ({ value }, first) => {
    const { auditId } = value as { auditId: number };
    const newest = page.state.peek().value?.rows[0]?.auditId;
    if (!first || newest !== auditId) page.again();
  });
  return [
    head({
      title: 'Audit log',
      about: 'All changes, with their author and time. Commands to devices are recorded as transactions instead.',
      actions: button({ type: 'button', onClick: check }, 'Check the log'),
    }),
    filterBar([...FILTERS, ...periodFilters()]),
    card(
      {
        title: 'Changes',
        bare: true,
        side: csvButton<AuditEntry>({
          name: 'audit-log',
          columns: CSV,
          page: (after, signal) =>
            readPage(operation('listAudit'), 'entries', { query: { ...query, after, limit: EXPORT_LIMIT }, signal }),
        }),
      },
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
                columns: changeColumns,
              }),
              pager(next, rows.length),
            ],
      ),
    ),
  ];
}

export const auditPage = (): VNode => use(Audit, {});
