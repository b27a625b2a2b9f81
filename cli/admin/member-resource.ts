import { column, date, flexible, type Resource, SHOWN_ONCE } from './admin-resource.ts';

/** The people of a developer, with their tokens for its applications. */
export const MEMBERS: Resource = {
  resource: 'member',
  columns: [
    column('MEMBER', 'memberId'),
    column('ROLE', 'role'),
    date('EXPIRES', 'expiresAt'),
    date('USED', 'lastUsedAt'),
    flexible('NAME', 'name'),
  ],
  verbs: [
    {
      verb: 'create',
      summary: 'Gives a person of a developer a token for its applications',
      about: SHOWN_ONCE,
      note: SHOWN_ONCE,
      operation: 'createMember',
      fields: {
        name: { field: 'name', value: 'TEXT', text: 'the name of the person' },
        role: { field: 'role', value: 'admin|developer|reader', text: 'what the person may do' },
        days: { field: 'expiresInDays', kind: 'number', value: 'N', text: 'days for which the token is valid; 90' },
      },
      examples: ["lapel admin member create --developer acme --name 'Mika Sato' --role developer"],
    },
    {
      verb: 'list',
      summary: 'Lists the people of a developer',
      operation: 'listMembers',
      kind: 'list',
      list: 'members',
      whole: true,
      examples: ['lapel admin member list --developer acme'],
    },
    {
      verb: 'revoke',
      summary: 'Revokes the token of a person of a developer; it ends at once',
      operation: 'revokeMember',
      arguments: { MEMBER: 'memberId' },
      done: 'revoked',
      examples: ['lapel admin member revoke member_0193480f3a5b00112233445566778899 --developer acme'],
    },
  ],
};
