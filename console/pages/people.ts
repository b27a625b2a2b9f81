import { button, p, small, use, type VNode } from '../base/elements.ts';
import { count } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { addressOf, place } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { AdministratorToken, PersonList, PersonRow } from '../base/rows.ts';
import { permits, ROLES, type Role, session } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { ask } from '../parts/dialog.ts';
import { choice, textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { pager } from '../parts/pager.ts';
import { age, badge, card, empty, idLink, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

const LIMIT = 100;

/** The permissions of each role, in the words of the form. */
const RIGHTS: Readonly<Record<Role, string>> = {
  owner: 'decides who administers the service',
  operator: 'works with all objects, and sees payloads',
  support: 'sees no payloads and no secrets; may repeat, cancel and disconnect',
  reader: 'sees what support sees, and changes nothing',
};

/** The field for a role. */
export const roleField = (value: Role): VNode =>
  choice(
    { name: 'role', label: 'Role', value, hint: 'Each role may do what the roles below it may do.' },
    ROLES.map((role) => [role, `${role}: ${RIGHTS[role]}`] as const),
  );

const create = (): void =>
  ask({
    title: 'New person',
    text: 'Make a token for the person next: with it they sign in here, and use the command line and the API.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true }),
      textField({ name: 'personId', label: 'personId', hint: 'Generated when left empty.' }),
      roleField('support'),
    ],
    does: 'Create',
    async act(data, go) {
      const json = given({ name: typed(data, 'name'), personId: typed(data, 'personId'), role: typed(data, 'role') });
      const { personId } = (await (await send(operation('createPerson'), { json })).json()) as PersonRow;
      go(addressOf(['people', personId]));
      return 'The person was created.';
    },
  });

/** The administrator token of the settings, and the button that lets it be refused or accepted. */
function OfSettings() {
  const token = useLoad('administrator token', (signal) =>
    read<AdministratorToken>(operation('readAdministratorToken'), { signal }),
  );
  const change = (accepted: boolean): void =>
    ask({
      title: accepted ? 'Accept the administrator token again?' : 'Refuse the administrator token?',
      text: accepted
        ? 'A person who has it is then an owner without a name.'
        : 'Its sessions end, and whatever uses it stops: scripts, the command line, other nodes of an older release. If no owner has a token any more, “lapel owner” on the machine of the service makes one.',
      does: accepted ? 'Accept it' : 'Refuse it',
      isBad: true,
      async act() {
        await send(operation('putAdministratorToken'), { json: { accepted } });
        token.again();
        return accepted ? 'The administrator token is accepted.' : 'The administrator token is refused.';
      },
    });
  return card(
    { title: 'Administrator token of the settings' },
    loaded(token, ({ accepted }) => [
      p(
        { class: 'row' },
        accepted ? badge('warn', 'accepted') : badge('good', 'refused'),
        accepted
          ? 'It belongs to nobody: the audit log cannot say who used it.'
          : 'Only people with a token of their own administer the service.',
      ),
      permits('putAdministratorToken')
        ? accepted && session.value?.person?.personId === null
          ? p({ class: 'quiet' }, 'To refuse it, sign in as an owner with a token of your own.')
          : button({ type: 'button', onClick: () => change(!accepted) }, accepted ? 'Refuse it' : 'Accept it again')
        : null,
    ]),
  );
}

function People() {
  const offset = Number(place.value.query['after'] ?? 0);
  const page = useLoad(`people ${offset}`, (signal) =>
    read<PersonList>(operation('listPeople'), { query: { offset, limit: LIMIT }, signal }),
  );
  return [
    head({
      title: 'People',
      about: 'The people who administer the service, and their permissions.',
      actions: permits('createPerson')
        ? button({ type: 'button', class: 'main', onClick: create }, 'New person')
        : null,
    }),
    card(
      { title: 'People and their roles', bare: true },
      loaded(page, ({ people, total }) =>
        people.length === 0
          ? empty(
              {
                title: 'Nobody has a name yet',
                text: 'All changes are made with the administrator token, which belongs to nobody. Create an owner first.',
              },
              permits('createPerson') ? button({ type: 'button', onClick: create }, 'Create the first person') : null,
            )
          : [
              rowsTable({
                label: 'People',
                rows: people,
                keyOf: ({ personId }) => personId,
                columns: [
                  {
                    name: 'Person',
                    kind: 'lead',
                    cell: ({ personId, name }) => [
                      idLink(addressOf(['people', personId]), personId),
                      small(null, said(name)),
                    ],
                  },
                  {
                    name: 'Role',
                    cell: ({ role, disabled }) => [role, disabled ? [' ', badge('bad', 'disabled')] : null],
                  },
                  {
                    name: 'Tokens',
                    kind: 'right',
                    cell: ({ tokens }) => (tokens === 0 ? badge('warn', 'none') : count(tokens)),
                  },
                  {
                    name: 'Last used',
                    kind: 'short',
                    cell: ({ lastUsedAt }) => (lastUsedAt === null ? nothing() : age(lastUsedAt)),
                  },
                ],
              }),
              pager(offset + people.length < total ? String(offset + people.length) : null, people.length),
            ],
      ),
    ),
    use(OfSettings, {}),
  ];
}

export const peoplePage = (): VNode => use(People, {});
