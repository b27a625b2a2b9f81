import { button, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { ROLE } from '../base/place.ts';
import { operation, read, send } from '../base/requests.ts';
import type { Member, MemberList } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { ask } from './dialog.ts';
import { choice, textField } from './fields.ts';
import { loaded } from './loaded.ts';
import { showSecret } from './secret.ts';
import { age, badge, card, empty, id, moment, nothing, said } from './show.ts';
import { rowsTable } from './table.ts';

/** The roles of the people of a developer, with what each may do. */
const ROLES = [
  ['reader', 'Reader: looks'],
  ['developer', 'Developer: works with the applications'],
  ['admin', 'Admin: decides who else gets in, too'],
] as const;
const DAYS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['366', 'a year'],
] as const;

/** Only operators, and the admin of the developer, who alone sees this, may change who gets in. */
const mayLetIn = (): boolean => ROLE === 'application' || permits('createMember');

const add = (developerId: string, done: () => void): void =>
  ask({
    title: 'New person',
    text: 'The token opens the console and the API of all applications of the developer, with the rights of the role.',
    fields: [
      textField({ name: 'name', label: 'Name', required: true }),
      choice({ name: 'role', label: 'Role', value: 'developer' }, ROLES),
      choice({ name: 'days', label: 'Expires after', value: '90' }, DAYS),
    ],
    does: 'Make the token',
    async act(data) {
      const name = typed(data, 'name') ?? '';
      const json = { name, role: typed(data, 'role'), expiresInDays: Number(typed(data, 'days')) };
      const answer = await send(operation('createMember', { developerId }), { json });
      const { token } = (await answer.json()) as { token: string };
      done();
      showSecret(`The token of ${name}`, 'It is shown only now, and never again.', token);
    },
  });

const revoke = (developerId: string, { memberId, name }: Member, done: () => void): void =>
  ask({
    title: `Revoke the token of ${name}?`,
    text: 'It ends at once.',
    does: 'Revoke',
    isBad: true,
    async act() {
      await send(operation('revokeMember', { developerId, memberId }));
      done();
      return `${name} has no token any more.`;
    },
  });

function Members({ developerId }: { developerId: string }) {
  const members = useLoad(`${developerId} members`, (signal) =>
    read<MemberList>(operation('listMembers', { developerId }), { signal }),
  );
  return card(
    {
      title: 'People',
      bare: true,
      side: mayLetIn()
        ? button({ type: 'button', class: 'tiny', onClick: () => add(developerId, members.again) }, 'New person')
        : null,
    },
    loaded(members, (value) =>
      value.members.length === 0
        ? empty({
            title: 'No people',
            text: 'With a token of their own, people of the developer use console and API without the secrets of applications.',
          })
        : rowsTable({
            label: 'People',
            rows: value.members,
            keyOf: ({ memberId }) => memberId,
            columns: [
              { name: 'Person', kind: 'lead', cell: ({ name, memberId }) => [said(name), ' ', id(memberId)] },
              { name: 'Role', kind: 'short', cell: ({ role }) => role },
              {
                name: 'Expires',
                kind: 'short',
                cell: ({ expiresAt }) =>
                  Date.parse(expiresAt) < Date.now() ? badge('warn', 'expired') : moment(expiresAt),
              },
              {
                name: 'Last used',
                kind: 'short',
                cell: ({ lastUsedAt }) => (lastUsedAt === null ? nothing() : age(lastUsedAt)),
              },
              {
                name: '',
                kind: 'short',
                cell: (member) =>
                  mayLetIn()
                    ? button(
                        {
                          type: 'button',
                          class: 'tiny bad',
                          onClick: () => revoke(developerId, member, members.again),
                        },
                        'Revoke',
                      )
                    : null,
              },
            ],
          }),
    ),
  );
}

/** The people of a developer, and their tokens. For an application the developer is its own, and needs no name. */
export const membersCard = (developerId = ''): VNode => use(Members, { developerId, key: 'members' });
