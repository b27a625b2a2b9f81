import { a, button, div, p, small, span, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { pageFrom } from '../base/offset-pages.ts';
import { addressOf, place, ROLE } from '../base/place.ts';
import { operation, type Page, read, readPage, send } from '../base/requests.ts';
import type { BinaryWarningList, PackageRow } from '../base/rows.ts';
import { fromServiceTime } from '../base/service-time.ts';
import { mayChange } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { ask } from '../parts/dialog.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';
import { textField } from '../parts/fields.ts';
import { asked, type Filter, filterBar } from '../parts/filters.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { named } from '../parts/named.ts';
import { pager } from '../parts/pager.ts';
import { age, badge, bareId, card, empty, id, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

export type Line = 'software' | 'firmware';

interface Package {
  line: Line;
  package: string;
  developerId: string | null;
  displayName: string | null;
  forAll?: boolean;
  versions: number | null;
  newest: string | null;
  updatedAt: string | null;
}

const FILTERS: readonly Filter[] = [
  {
    name: 'line',
    label: 'Kind',
    choices: [
      ['software', 'apps'],
      ['firmware', 'firmware'],
    ],
  },
  { name: 'developerId', label: 'Developer' },
];
const LIMIT = 100;

/**
 * Reads the packages as an application may: with times in the local time of the service, and without the number of
 * versions.
 */
async function ofApplication(signal: AbortSignal): Promise<Page<Package>> {
  const offset = Number(place.value.query['after'] ?? 0);
  const { packages, total } = await read<{
    packages: { package: string; displayName: string | null; updateDate: string }[];
    total: number;
  }>(operation('listPackages'), { query: { offset, limit: LIMIT }, signal });
  const rows = packages.map(({ package: name, displayName, updateDate }) => ({
    line: 'software' as const,
    package: name,
    developerId: null,
    displayName,
    versions: null,
    newest: null,
    updatedAt: fromServiceTime(updateDate),
  }));
  return { rows, next: offset + rows.length < total ? String(offset + rows.length) : null };
}

/**
 * Asks for the data of a new package and creates it. The operator creates a version of a system package or of firmware.
 */
function create(done: () => void): void {
  ask({
    title: ROLE === 'operator' ? 'New version of a system package or firmware' : 'New package',
    text:
      ROLE === 'operator'
        ? 'The service itself distributes these packages. A package is created with its first version.'
        : 'The name must be the package name in the APK file.',
    fields:
      ROLE === 'operator'
        ? [
            textField({ name: 'package', label: 'Package', required: true, hint: 'The package name in the file.' }),
            textField({ name: 'version', label: 'Version', required: true }),
            textField({ name: 'displayName', label: 'Display name' }),
            textField({ name: 'description', label: 'Description' }),
            textField(
              {
                name: 'line',
                label: 'Kind',
                value: 'system-packages',
                required: true,
                hint: 'system-packages or firmware',
              },
              { pattern: 'system-packages|firmware' },
            ),
          ]
        : [
            textField({ name: 'package', label: 'Package', required: true }),
            textField({ name: 'displayName', label: 'Display name', required: true }),
          ],
    does: 'Create',
    async act(data) {
      const name = typed(data, 'package')!;
      if (ROLE === 'operator') {
        const put = typed(data, 'line') === 'firmware' ? 'putFirmware' : 'putSystemPackage';
        await send(operation(put, { package: name, version: typed(data, 'version')! }), {
          json: given({ displayName: typed(data, 'displayName'), description: typed(data, 'description') }),
        });
      } else
        await send(operation('registerPackage'), {
          json: given({ package: name, displayName: typed(data, 'displayName') }),
        });
      done();
      return `${name} was created.`;
    },
  });
}

/** The files of the developer that do not match their versions: devices that install them report errors. */
function WrongFiles() {
  const wrong = useLoad('binary warnings', (signal) =>
    read<BinaryWarningList>(operation('listOwnBinaryWarnings'), { query: { limit: LIMIT }, signal }),
  );
  const { value } = wrong.state.value;
  if (value === undefined || value.warnings.length === 0) return null;
  return card(
    { title: 'Files that do not match their version', bare: true },
    p({ class: 'pad quiet' }, 'Devices that install these versions report an error. Upload another file.'),
    rowsTable({
      label: 'Files that do not match their version',
      rows: value.warnings,
      keyOf: (row) => `${row.package} ${row.version}`,
      columns: [
        {
          name: 'Version',
          kind: 'lead',
          cell: ({ package: name, version }) => [
            a({ href: addressOf(['software', name], { version }) }, bareId(name)),
            ' ',
            id(version),
          ],
        },
        { name: 'Warning', cell: ({ warning }) => span({ class: 'fault' }, said(warning)) },
        { name: 'Read', kind: 'short', cell: ({ readAt }) => age(fromServiceTime(readAt)) },
      ],
    }),
  );
}

/** A package as the list of an application has it; its times are local times of the service. */
interface OwnPackage {
  package: string;
  displayName: string | null;
  updateDate: string;
}

const packagesAsCsv = (query: Record<string, string | number>): VNode =>
  ROLE === 'operator'
    ? csvButton<PackageRow>({
        name: 'packages',
        columns: ['line', 'package', 'developerId', 'displayName', 'forAll', 'versions', 'newest', 'updatedAt'],
        page: (after, signal) =>
          readPage(operation('listAllPackages'), 'packages', {
            query: { ...query, after, limit: EXPORT_LIMIT },
            signal,
          }),
      })
    : csvButton<OwnPackage>({
        name: 'packages',
        columns: ['package', 'displayName', 'updateDate'],
        page: (after, signal) => pageFrom(operation('listPackages'), 'packages', after, signal),
      });

function Software() {
  const query = { ...asked(FILTERS.map(({ name }) => name)), limit: LIMIT };
  const page = useLoad<Page<Package>>(JSON.stringify(query), (signal) =>
    ROLE === 'operator'
      ? readPage<PackageRow>(operation('listAllPackages'), 'packages', { query, signal })
      : ofApplication(signal),
  );
  const isOperator = ROLE === 'operator';
  return [
    head({
      title: 'Software',
      actions: mayChange('application', 'putSystemPackage')
        ? button(
            { type: 'button', onClick: () => create(page.again) },
            isOperator ? 'New system version' : 'New package',
          )
        : null,
    }),
    isOperator ? filterBar(FILTERS) : use(WrongFiles, {}),
    card(
      { title: 'Packages', bare: true, side: packagesAsCsv(query) },
      loaded(page, ({ rows, next }) =>
        rows.length === 0 && next === null
          ? empty({
              title: 'No packages',
              text: isOperator
                ? 'Developers register their packages through the API. System packages and firmware are created on this page.'
                : 'Register a package, then its first version, then upload its file.',
            })
          : [
              rowsTable({
                label: 'Packages',
                rows,
                keyOf: ({ line, package: name }) => `${line} ${name}`,
                columns: [
                  {
                    name: 'Package',
                    kind: 'lead',
                    cell: ({ line, package: name, displayName }) =>
                      div(
                        null,
                        a(
                          { href: addressOf(['software', name], { line: line === 'firmware' ? line : undefined }) },
                          bareId(name),
                        ),
                        displayName === null ? null : small(null, said(displayName)),
                      ),
                  },
                  {
                    name: 'Kind',
                    cell: ({ line, developerId }) =>
                      line === 'firmware'
                        ? badge('calm', 'firmware')
                        : developerId === null && isOperator
                          ? badge('', 'system')
                          : badge('', 'software'),
                  },
                  ...(isOperator
                    ? [
                        {
                          name: 'Developer',
                          cell: ({ developerId }: Package) =>
                            developerId === null ? nothing() : named('developers', developerId),
                        },
                        {
                          name: 'Versions',
                          kind: 'right' as const,
                          cell: ({ versions }: Package) => (versions === null ? nothing() : count(versions)),
                        },
                        { name: 'Newest', cell: ({ newest }: Package) => (newest === null ? nothing() : id(newest)) },
                      ]
                    : []),
                  { name: 'Changed', kind: 'short', cell: ({ updatedAt }) => age(updatedAt) },
                ],
              }),
              pager(next, rows.length),
            ],
      ),
    ),
  ];
}

export const softwarePage = (): VNode => use(Software, {});
