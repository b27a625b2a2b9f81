import { a, button, small, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { pageFrom } from '../base/offset-pages.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { Developer } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { ask } from '../parts/dialog.ts';
import { csvButton } from '../parts/export.ts';
import { textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { runningRemovals } from '../parts/removal.ts';
import { badge, card, empty, id, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const LIMIT = 100;

/** Reads a whole number from a text; undefined when there is no text. Throws when the text is not a whole number. */
export function wholeNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d+$/.test(text)) throw new Error('Enter a whole number.');
  return Number(text);
}

const create = (): void =>
  ask({
    title: 'New developer',
    text: 'A developer has a contract. All its applications share the limit of activated devices.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true }),
      textField({ name: 'developerId', label: 'developerId', hint: 'Generated when left empty.' }),
      textField(
        {
          name: 'deviceLimit',
          label: 'Most activated devices',
          hint: 'When left empty there is no contract, and no device can be activated.',
        },
        { inputMode: 'numeric' },
      ),
    ],
    does: 'Create',
    async act(data, go) {
      const json = given({
        name: typed(data, 'name'),
        developerId: typed(data, 'developerId'),
        deviceLimit: wholeNumber(typed(data, 'deviceLimit')),
      });
      const { developerId } = (await (await send(operation('createDeveloper'), { json })).json()) as Developer;
      go(addressOf(['developers', developerId]));
      return 'The developer was created. Create an application next.';
    },
  });

function Developers() {
  const offset = Number(place.value.query['after'] ?? 0);
  const page = useLoad(`developers ${offset}`, (signal) =>
    read<{ developers: Developer[]; total: number }>(operation('listDevelopers'), {
      query: { offset, limit: LIMIT },
      signal,
    }),
  );
  return [
    head({
      title: 'Developers',
      actions: permits('createDeveloper')
        ? button({ type: 'button', class: 'main', onClick: create }, 'New developer')
        : null,
    }),
    runningRemovals(),
    card(
      {
        title: 'Developers and their contracts',
        bare: true,
        side: csvButton<Developer>({
          name: 'developers',
          columns: ['developerId', 'name', 'deviceLimit'],
          page: (after, signal) => pageFrom(operation('listDevelopers'), 'developers', after, signal),
        }),
      },
      loaded(page, ({ developers, total }) =>
        developers.length === 0
          ? empty(
              { title: 'No developers yet', text: 'A developer owns applications, devices and packages.' },
              permits('createDeveloper')
                ? button({ type: 'button', onClick: create }, 'Create the first developer')
                : null,
            )
          : [
              rowsTable({
                label: 'Developers',
                rows: developers,
                keyOf: ({ developerId }) => developerId,
                columns: [
                  {
                    name: 'Developer',
                    kind: 'lead',
                    cell: ({ developerId, name }) => [
                      a({ href: addressOf(['developers', developerId]) }, said(name)),
                      small(null, id(developerId)),
                    ],
                  },
                  {
                    name: 'Contract',
                    kind: 'right',
                    cell: ({ deviceLimit, removalId }) =>
                      removalId !== null
                        ? badge('warn', 'being removed')
                        : deviceLimit === null
                          ? badge('', 'none')
                          : `${count(deviceLimit)} devices`,
                  },
                ],
              }),
              pager(offset + developers.length < total ? String(offset + developers.length) : null, developers.length),
            ],
      ),
    ),
  ];
}

export const developersPage = (): VNode => use(Developers, {});
