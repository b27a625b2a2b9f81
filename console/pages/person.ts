import { button, dl, small, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, readSeen, type Seen, send } from '../base/requests.ts';
import type { PersonDetails, PersonToken } from '../base/rows.ts';
import { permits } from '../base/session.ts';
import { given, typed } from '../base/typed.ts';
import { askForChange } from '../parts/change.ts';
import { historyOf } from '../parts/changes.ts';
import { ask } from '../parts/dialog.ts';
import { choice, textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { showSecret } from '../parts/secret.ts';
import { age, badge, card, empty, fact, id, moment, nothing, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';
import { roleField } from './people.ts';

/** The days for which a token may be made here; an empty text: it does not expire. */
const DAYS = [
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
  ['365', 'a year'],
  ['never', 'It does not expire'],
] as const;

function addToken({ personId, name }: PersonDetails, done: () => void): void {
  ask({
    title: `New token of ${name}`,
    text: 'With it the person signs in here, and uses the command line and the API. They can replace it by “lapel admin token renew”, so that nobody else knows it.',
    fields: [
      textField({ name: 'name', label: 'What it is for', required: true, hint: 'For example: laptop' }),
      choice({ name: 'days', label: 'Expires after', value: '90' }, DAYS),
    ],
    does: 'Make the token',
    async act(data) {
      const days = typed(data, 'days');
      const json = { name: typed(data, 'name'), expiresInDays: days === 'never' ? null : Number(days) };
      const answer = await send(operation('createPersonToken', { personId }), { json });
      const { token } = (await answer.json()) as { token: string };
      done();
      showSecret(`The token of ${name}`, 'It is shown only now, and never again.', token);
    },
  });
}

function change(personId: string, seen: Seen<PersonDetails>, done: () => void): void {
  askForChange<PersonDetails>({
    title: `Change ${seen.value.name}`,
    text: seen.value.login
      ? 'The role comes from the provider, at each sign-in.'
      : 'A new role holds at once, on every node.',
    seen,
    fields: ({ name, role, login }) => [
      textField({ name: 'name', label: 'Name', value: name, required: true }),
      login ? null : roleField(role),
    ],
    does: 'Change',
    async send(data, { value, tag }) {
      const [name, role] = [typed(data, 'name'), typed(data, 'role')];
      const json = given({
        name: name === value.name ? undefined : name,
        role: role === undefined || role === value.role ? undefined : role,
      });
      if (Object.keys(json).length === 0) return false;
      await send(operation('updatePerson', { personId }), { json, ifMatch: tag });
      return true;
    },
    read: () => readSeen<PersonDetails>(operation('readPerson', { personId })),
    shown: ({ name, role, disabled }) => ({ name, role, disabled: String(disabled) }),
    done() {
      done();
      return `${personId} was changed.`;
    },
  });
}

function disable({ personId, name, disabled }: PersonDetails, done: () => void): void {
  ask({
    title: disabled ? `Let ${name} in again?` : `Disable ${name}?`,
    text: disabled
      ? 'The tokens of the person are accepted again.'
      : 'The tokens of the person are refused, and their sessions end at once.',
    does: disabled ? 'Enable' : 'Disable',
    isBad: !disabled,
    async act() {
      await send(operation('updatePerson', { personId }), { json: { disabled: !disabled } });
      done();
      return disabled ? `${personId} is enabled.` : `${personId} is disabled.`;
    },
  });
}

function remove({ personId, name }: PersonDetails): void {
  ask({
    title: `Delete ${name}?`,
    text: 'All tokens and sessions of the person end. The audit log keeps the name.',
    typed: personId,
    does: 'Delete',
    isBad: true,
    async act(_, go) {
      await send(operation('deletePerson', { personId }));
      go(addressOf(['people']));
      return `${personId} was deleted.`;
    },
  });
}

function revoke(personId: string, { tokenId, name }: PersonToken, done: () => void): void {
  ask({
    title: `Revoke the token ${name}?`,
    text: 'It ends at once, with the sessions that it has opened.',
    does: 'Revoke',
    isBad: true,
    async act() {
      await send(operation('revokePersonToken', { personId, tokenId }));
      done();
      return `The token ${name} was revoked.`;
    },
  });
}

function OnePerson({ personId }: { personId: string }) {
  const person = useLoad(personId, (signal) =>
    readSeen<PersonDetails>(operation('readPerson', { personId }), { signal }),
  );
  const { value } = person.state.value;
  return [
    head({
      title: value?.value.name ?? personId,
      copied: personId,
      trail: [[addressOf(['people']), 'People']],
      state: value?.value.disabled ? badge('bad', 'disabled') : null,
      actions: value
        ? [
            permits('createPersonToken')
              ? button(
                  { type: 'button', class: 'main', onClick: () => addToken(value.value, person.again) },
                  'New token',
                )
              : null,
            permits('updatePerson')
              ? [
                  button({ type: 'button', onClick: () => change(personId, value, person.again) }, 'Change'),
                  value.value.login?.hasRole === false
                    ? null
                    : button(
                        { type: 'button', onClick: () => disable(value.value, person.again) },
                        value.value.disabled ? 'Enable' : 'Disable',
                      ),
                ]
              : null,
            permits('deletePerson')
              ? button({ type: 'button', class: 'bad', onClick: () => remove(value.value) }, 'Delete')
              : null,
          ]
        : null,
    }),
    card(
      { title: 'Person', bare: true },
      loaded(person, ({ value: one }) =>
        dl(
          { class: 'facts' },
          fact('personId', id(one.personId)),
          fact('Role', one.login?.hasRole === false ? 'none: the provider gives none' : one.role),
          one.login ? fact('Signs in at', said(one.login.issuer)) : null,
          one.login ? fact('Subject there', said(one.login.subject)) : null,
          fact('Created', age(one.createdAt)),
        ),
      ),
    ),
    card(
      { title: 'Tokens', bare: true },
      loaded(person, ({ value: one }) =>
        one.tokens.length === 0
          ? empty({
              title: 'No tokens',
              text: one.login
                ? 'The person signs in through the provider.'
                : 'Without a token the person cannot sign in.',
            })
          : rowsTable({
              label: 'Tokens',
              rows: one.tokens,
              keyOf: ({ tokenId }) => tokenId,
              columns: [
                {
                  name: 'Token',
                  kind: 'lead',
                  cell: ({ tokenId, name }) => [said(name), small(null, id(tokenId))],
                },
                { name: 'Made', kind: 'short', cell: ({ createdAt }) => age(createdAt) },
                {
                  name: 'Expires',
                  kind: 'short',
                  cell: ({ expiresAt }) => (expiresAt === null ? 'never' : moment(expiresAt)),
                },
                {
                  name: 'Last used',
                  kind: 'short',
                  cell: ({ lastUsedAt }) => (lastUsedAt === null ? nothing() : age(lastUsedAt)),
                },
                {
                  name: '',
                  kind: 'short',
                  cell: (token) =>
                    permits('revokePersonToken')
                      ? button(
                          { type: 'button', class: 'tiny bad', onClick: () => revoke(personId, token, person.again) },
                          'Revoke',
                        )
                      : null,
                },
              ],
            }),
      ),
    ),
    historyOf('person', personId),
  ];
}

export const personPage = (personId: string): VNode => use(OnePerson, { personId, key: personId });
