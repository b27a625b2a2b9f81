import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { PersonToken } from '../../core/people/token-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import { changedValues } from '../http/changed-values.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { Administrator } from './authorize.ts';
import type { AdminServices, At, By, List } from './services.ts';

type Services = Pick<AdminServices, 'people'>;
type Person = SchemaTypes['admin/person'];
type Known = Omit<Person, 'createdAt'> & { createdAt: number };

const utc = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));
const stateOf = ({ name, role, disabled }: Known): unknown => [name, role, disabled];
const tagged = (person: Known): Record<string, string> => ({ ETag: entityTag(stateOf(person)) });

const personBody = ({ personId, name, role, disabled, createdAt, login }: Known): Person => ({
  personId,
  name,
  role,
  disabled,
  createdAt: toUtc(createdAt),
  login,
});
const tokenBody = ({ tokenId, name, createdAt, expiresAt, lastUsedAt }: PersonToken) => ({
  tokenId,
  name,
  createdAt: toUtc(createdAt),
  expiresAt: utc(expiresAt),
  lastUsedAt: utc(lastUsedAt),
});

/** The identity of a caller; `personId` and names are null for the administrator token. */
export const whoIs = ({ role, person }: Administrator): SchemaTypes['admin/caller'] => ({
  role,
  personId: person?.personId ?? null,
  name: person?.name ?? null,
  token: person?.tokenName ?? null,
});

/** Reads who the caller is. */
export const readCaller = (_: unknown, { caller }: By): Answer => ({ status: 200, body: whoIs(caller) });

/**
 * Replaces the secret of the token that the caller has come with, so that nobody else knows it; the old one ends at once.
 * A session cannot: the token that opened it is not at hand to be replaced.
 */
export async function renewOwnToken({ people }: Services, { caller, changed }: By): Promise<Answer> {
  const identity = caller.kind === 'token' ? caller.identity : null;
  if (!identity) throw new DomainError('OWN_TOKEN_NEEDED');
  const { secret, ...token } = await people.renewToken(identity);
  await changed({ replaced: ['token'] }, [{ kind: 'person', id: token.personId }]);
  const body: SchemaTypes['admin/person-token-created'] = { ...tokenBody(token), token: secret };
  return { status: 201, headers: NO_STORE, body };
}

export async function createPerson(
  { people }: Services,
  { body, changed }: At<never, 'admin/person-create'>,
): Promise<Answer> {
  const created = await people.create(body);
  await changed({ name: created.name, role: created.role }, [{ kind: 'person', id: created.personId }]);
  return { status: 201, body: personBody(created) };
}

export async function listPeople({ people }: Services, input: List): Promise<Answer> {
  const { people: found, total } = await people.list(input.query);
  const body: SchemaTypes['admin/person-list'] = {
    people: found.map(({ tokens, lastUsedAt, ...person }) => ({
      ...personBody(person),
      tokens,
      lastUsedAt: utc(lastUsedAt),
    })),
    total,
  };
  return { status: 200, headers: nextPage(input, input.query, total), body };
}

/** Reads a person with their tokens, without the secrets of these. */
export async function readPerson({ people }: Services, { params }: By<'personId'>): Promise<Answer> {
  const person = await people.find(params.personId);
  const body: SchemaTypes['admin/person-details'] = { ...personBody(person), tokens: person.tokens.map(tokenBody) };
  return { status: 200, headers: tagged(person), body };
}

export async function updatePerson(
  { people }: Services,
  { params, body, headers, changed }: At<'personId', 'admin/person-update'>,
): Promise<Answer> {
  const check = matcher(headers);
  let before: object = {};
  const person = await people.update(params.personId, body, (known) => {
    before = known;
    check(stateOf(known));
  });
  await changed(changedValues(before, person));
  return { status: 200, headers: tagged(person), body: personBody(person) };
}

export async function deletePerson({ people }: Services, { params }: By<'personId'>): Promise<Answer> {
  await people.remove(params.personId);
  return { status: 204 };
}

/** Days for which a token is valid when its maker does not say. */
const USUAL_DAYS = 90;

/** Makes a token for a person; it is shown only in this answer. */
export async function createPersonToken(
  { people }: Services,
  { params, body, changed }: At<'personId', 'admin/person-token-create'>,
): Promise<Answer> {
  const { name, expiresInDays: days = USUAL_DAYS } = body;
  const { secret, ...token } = await people.addToken(params.personId, { name, days });
  const answer: SchemaTypes['admin/person-token-created'] = { ...tokenBody(token), token: secret };
  await changed({ id: token.tokenId, name, expiresAt: answer.expiresAt }); // a member named after the token would be hidden
  return { status: 201, headers: NO_STORE, body: answer };
}

/** Ends a token, and the sessions and streams that it has opened. */
export async function revokePersonToken({ people }: Services, { params }: By<'personId' | 'tokenId'>): Promise<Answer> {
  await people.revokeToken(params.personId, params.tokenId);
  return { status: 204 };
}

/** Reads whether the administrator token of the settings is accepted. */
export async function readAdministratorToken({ people }: Services): Promise<Answer> {
  const body: SchemaTypes['admin/administrator-token'] = { accepted: await people.isTokenAccepted() };
  return { status: 200, body };
}

/** Lets the administrator token of the settings be accepted or refused. */
export async function putAdministratorToken(
  { people }: Services,
  { body, caller, changed }: At<never, 'admin/administrator-token'>,
): Promise<Answer> {
  await people.acceptToken(body.accepted, caller.person);
  await changed({ accepted: body.accepted });
  return { status: 200, body };
}
