import { render } from '../show/look.ts';
import { recordText, table } from '../show/table.ts';
import { column, date, type Field, flexible, type Resource, type Row, SHOWN_ONCE } from './admin-resource.ts';

const ROLE: Field = {
  field: 'role',
  value: 'ROLE',
  choices: ['owner', 'operator', 'support', 'reader'],
  text: 'what the person may do',
};
const NAME: Field = { field: 'name', value: 'TEXT', text: 'the name of the person' };
const TOKEN_NAME: Field = { field: 'name', value: 'TEXT', text: 'what the token is for' };

const TOKEN_COLUMNS = [
  column('TOKEN', 'tokenId'),
  flexible('NAME', 'name'),
  date('EXPIRES', 'expiresAt'),
  date('USED', 'lastUsedAt'),
];

/** The people who administer the service. */
export const PEOPLE: Resource = {
  resource: 'person',
  columns: [
    column('PERSON', 'personId'),
    column('ROLE', 'role'),
    flexible('NAME', 'name'),
    column('DISABLED', 'disabled'),
    column('TOKENS', 'tokens'),
    date('USED', 'lastUsedAt'),
  ],
  verbs: [
    {
      verb: 'create',
      summary: 'Creates a person who administers the service; lapel admin token create lets them sign in',
      about:
        'Roles: owner decides who administers the service; operator works with all objects, and sees payloads; support sees\nno payloads and no secrets, and may repeat, cancel and disconnect; reader sees what support sees, and changes nothing.',
      operation: 'createPerson',
      arguments: { '[PERSON]': 'personId' },
      fields: { name: NAME, role: ROLE },
      examples: ["lapel admin person create mika --name 'Mika Sato' --role support"],
    },
    {
      verb: 'list',
      summary: 'Lists the people with their roles; times are in UTC',
      operation: 'listPeople',
      kind: 'list',
      list: 'people',
      examples: ['lapel admin person list'],
    },
    {
      verb: 'show',
      summary: 'Shows a person with their tokens',
      operation: 'readPerson',
      show:
        ({ tokens, ...person }) =>
        (look) =>
          `${recordText(person)(look)}\n${render(table(TOKEN_COLUMNS, tokens as Row[], 'There are no tokens.'), look)}`,
      arguments: { PERSON: 'personId' },
      examples: ['lapel admin person show mika'],
    },
    {
      verb: 'update',
      summary: 'Changes the name or the role of a person, at once and on every node',
      operation: 'updatePerson',
      arguments: { PERSON: 'personId' },
      fields: { name: NAME, role: ROLE },
      examples: ['lapel admin person update mika --role operator'],
    },
    {
      verb: 'disable',
      summary: 'Refuses the tokens of a person, and ends their sessions',
      operation: 'updatePerson',
      arguments: { PERSON: 'personId' },
      body: { disabled: true },
      examples: ['lapel admin person disable mika'],
    },
    {
      verb: 'enable',
      summary: 'Accepts the tokens of a disabled person again',
      operation: 'updatePerson',
      arguments: { PERSON: 'personId' },
      body: { disabled: false },
      examples: ['lapel admin person enable mika'],
    },
    {
      verb: 'delete',
      summary: 'Deletes a person with all tokens and sessions; the audit log keeps the name',
      operation: 'deletePerson',
      arguments: { PERSON: 'personId' },
      done: 'deleted',
      examples: ['lapel admin person delete mika'],
    },
  ],
};

/** The tokens with which people administer the service. */
export const TOKENS: Resource = {
  resource: 'token',
  columns: [],
  verbs: [
    {
      verb: 'create',
      summary: 'Makes a token for a person, and shows it',
      operation: 'createPersonToken',
      arguments: { PERSON: 'personId' },
      fields: {
        name: TOKEN_NAME,
        days: {
          field: 'expiresInDays',
          value: 'N',
          kind: 'number',
          text: 'days until it expires (90)',
          none: 'it does not expire',
        },
      },
      note: `${SHOWN_ONCE} Its person can replace it with lapel admin token renew, so that nobody else knows it.`,
      examples: ['lapel admin token create mika --name laptop', 'lapel admin token create mika --name robot --no-days'],
    },
    {
      verb: 'revoke',
      summary: 'Ends a token, with the sessions that it has opened, on every node',
      operation: 'revokePersonToken',
      arguments: { PERSON: 'personId', TOKEN: 'tokenId' },
      done: 'revoked',
      examples: ['lapel admin token revoke mika token_0193480f3a5b00112233445566778899'],
    },
  ],
};

/** The person of the token in use, and the administrator token of the settings, which belongs to nobody. */
export const CALLER: Resource = {
  resource: 'whoami',
  columns: [],
  verbs: [
    {
      verb: '',
      summary: 'Shows who you are in administration, and your role',
      operation: 'readCaller',
      examples: ['lapel admin whoami'],
    },
  ],
};

export const ADMINISTRATOR_TOKEN: Resource = {
  resource: 'administrator-token',
  columns: [],
  verbs: [
    {
      verb: 'show',
      summary: 'Shows whether the administrator token of the settings is accepted',
      operation: 'readAdministratorToken',
      examples: ['lapel admin administrator-token show'],
    },
    {
      verb: 'refuse',
      summary: 'Lets the administrator token of the settings be refused; needs the token of an owner',
      about: 'If no owner has a token any more, lapel owner on the machine of the service makes one.',
      operation: 'putAdministratorToken',
      body: { accepted: false },
      examples: ['lapel admin administrator-token refuse'],
    },
    {
      verb: 'accept',
      summary: 'Lets the administrator token of the settings be accepted again',
      operation: 'putAdministratorToken',
      body: { accepted: true },
      examples: ['lapel admin administrator-token accept'],
    },
  ],
};
