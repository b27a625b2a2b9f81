import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createLastUses } from '../../platform/database/last-uses.ts';
import type { Database, UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { hashSecret } from '../../runtime/secret-hash.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Audit } from '../audit/audit.ts';
import { type Login, loginHashOf } from './login.ts';
import * as persons from './person-repository.ts';
import type { Role } from './roles.ts';
import * as tokens from './token-repository.ts';

type Person = persons.Person;
export type Identity = tokens.Identity & {
  /** The hash of the secret that was given, by which a later look finds out whether the token was replaced. */
  secretHash: Buffer;
};

/** The most people, and the most tokens of one of them. */
export const MOST_PEOPLE = 200;
export const MOST_TOKENS = 20;
const DAY = 86_400_000_000;
/**
 * The beginning of every token of a person. Programs that search for secrets in texts recognize it, and a text without
 * it is not looked up.
 */
export const TOKEN_PREFIX = 'lapel_';
const TOKEN = /^lapel_[\w-]{43}$/;

/** Somebody whom a provider has identified, and the request with which they came. */
interface SignIn {
  login: Pick<Login, 'issuer' | 'subject'>;
  name: string;
  /** Null: the provider gives them no role. */
  role: Role | null;
  requestId: string;
  address: string;
}

interface Parts {
  audit: Pick<Audit, 'noteIn'>;
  database: Pick<Database, 'read' | 'transact'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused'>;
  /** Called when a person or a token was changed, so that sessions and streams of administration can be checked. */
  changed(): void;
}

export type People = ReturnType<typeof createPeople>;

/**
 * Throws LAST_OWNER when no owner would be left who is not disabled; or, while the administrator token is refused, none
 * with a valid token. To be called after a change, under the lock of `lockAdministration`.
 */
async function requireOwner(unit: UnitOfWork, isTokenAccepted: boolean, now: Micros): Promise<void> {
  const { owners, withToken } = await persons.countOwners(unit, now);
  if (owners === 0 || (!isTokenAccepted && withToken === 0)) throw new DomainError('LAST_OWNER');
}

/**
 * The people who administer the service, with their roles and tokens. A token is returned once, and stored as SHA-256. It
 * is looked up for each request, so its end has an effect at once, on every node.
 */
export function createPeople({ audit, database, clock, ids, log, metrics, changed }: Parts) {
  const uses = createLastUses({ database, clock, log });

  const found = <Found>(value: Found | undefined): Found => {
    if (value === undefined) throw new DomainError('PERSON_NOT_FOUND');
    return value;
  };

  function refuse(bound: string, error: DomainError): never {
    metrics.httpRefused.inc({ bound });
    throw error;
  }

  /** Runs work under the lock of all changes of owners. */
  const locked = <Result>(work: (unit: UnitOfWork, isTokenAccepted: boolean) => Promise<Result>): Promise<Result> =>
    database.transact(async (unit) => work(unit, await persons.lockAdministration(unit, unit.forUpdate)));

  /** Runs a change under that lock; the streams of administration are checked after its commit. */
  const change = <Result>(work: (unit: UnitOfWork, isTokenAccepted: boolean) => Promise<Result>): Promise<Result> =>
    locked(async (unit, isTokenAccepted) => {
      const result = await work(unit, isTokenAccepted);
      unit.onCommit(changed);
      return result;
    });

  async function identify(secretHash: Buffer): Promise<Identity | undefined> {
    const identity = await tokens.findBySecret(database.read, secretHash, clock.now());
    if (!identity) return undefined;
    const { tokenId, lastUsedAt } = identity;
    uses.note(tokenId, lastUsedAt, (unit, at) => tokens.saveTokenUse(unit, tokenId, at));
    return { ...identity, secretHash };
  }

  return {
    /**
     * Creates a person without tokens. Throws PERSON_EXISTS when the given id is taken, and TOO_MANY_PEOPLE; without an
     * id, the service makes one.
     */
    create(wanted: { personId?: string; name: string; role: Role }): Promise<Person> {
      const now = clock.now();
      const person = {
        personId: wanted.personId ?? ids.next('person', now),
        name: wanted.name,
        role: wanted.role,
        disabled: false,
        createdAt: now,
        login: null,
      };
      return change(async (unit) => {
        if ((await persons.countPeople(unit)) >= MOST_PEOPLE)
          refuse('people', new DomainError('TOO_MANY_PEOPLE', { values: { limit: MOST_PEOPLE } }));
        if (!(await persons.insertPerson(unit, person))) throw new DomainError('PERSON_EXISTS');
        return person;
      });
    },

    /**
     * Lets in somebody whom a provider has identified, with the role that it gives them now; a person whom nobody has
     * seen before is created. Without a role the person is disabled until the provider gives them one, even if they are
     * the last owner. Each change has its entry in the audit log, in the same commit. Throws SIGN_IN_NO_ROLE,
     * SIGN_IN_DISABLED and TOO_MANY_PEOPLE.
     */
    async signIn({
      login: { issuer, subject },
      name,
      role,
      ...request
    }: SignIn): Promise<Person & { loginHash: Buffer }> {
      const now = clock.now();
      const isIn = await locked(async (unit) => {
        const known = await persons.findByLogin(unit, { issuer, subject }, unit.forUpdate);
        if (known?.disabled && known.login?.hasRole) return { known, person: known, isRefused: 'disabled' as const };
        if (!known && role === null) return { known, person: undefined, isRefused: 'no role' as const };
        if (!known && (await persons.countPeople(unit)) >= MOST_PEOPLE)
          refuse('people', new DomainError('TOO_MANY_PEOPLE', { values: { limit: MOST_PEOPLE } }));
        const hasRole = role !== null;
        const person: Person = {
          personId: known?.personId ?? ids.next('person', now),
          name,
          role: role ?? known?.role ?? 'reader',
          disabled: !hasRole,
          createdAt: known?.createdAt ?? now,
          login: { issuer, subject, hasRole },
        };
        if (known) await persons.updatePerson(unit, person);
        else await persons.insertPerson(unit, person);
        if (known?.role !== person.role || known.disabled !== person.disabled) {
          unit.onCommit(changed);
          await audit.noteIn(unit, {
            action: 'SIGN-IN /people',
            resource: `/admin/v1/people/${encodeURIComponent(person.personId)}`,
            id: request.requestId,
            address: request.address,
            details: { issuer, subject, before: known ? { role: known.role, disabled: known.disabled } : null, role },
            about: [{ kind: 'person', id: person.personId }],
          });
        }
        return { known, person, isRefused: hasRole ? null : ('no role' as const) };
      });
      const { person, isRefused } = isIn;
      if (isRefused === null && person) return { ...person, loginHash: loginHashOf({ issuer, subject }) };
      const values = { subject, ...(person && { personId: person.personId }) };
      throw new DomainError(isRefused === 'disabled' ? 'SIGN_IN_DISABLED' : 'SIGN_IN_NO_ROLE', { values });
    },

    list: (page: { offset: number; limit: number }) => persons.listPeople(database.read, page),

    /** Finds a person with their tokens. Throws PERSON_NOT_FOUND. */
    async find(personId: string): Promise<Person & { tokens: tokens.PersonToken[] }> {
      const person = found(await persons.findPerson(database.read, personId));
      return { ...person, tokens: await tokens.listTokens(database.read, personId) };
    },

    /**
     * Changes the fields that the patch names. `check` may refuse the change of the state that it gets, by an error.
     * The role of a person who signs in through a provider is that of the provider, which also lets them in again. Throws
     * PERSON_NOT_FOUND, PERSON_OF_PROVIDER and LAST_OWNER.
     */
    update(
      personId: string,
      patch: { name?: string; role?: Role; disabled?: boolean },
      check: (known: Person) => void = () => undefined,
    ): Promise<Person> {
      return change(async (unit, isTokenAccepted) => {
        const known = found(await persons.findPerson(unit, personId, unit.forUpdate));
        check(known);
        const { login } = known;
        const isProviders =
          (patch.role !== undefined && patch.role !== known.role) || (patch.disabled === false && !login?.hasRole);
        if (login && isProviders) throw new DomainError('PERSON_OF_PROVIDER', { values: { issuer: login.issuer } });
        const person = { ...known, ...patch };
        // From now on it is administration that keeps them out, whatever the provider says.
        if (login && patch.disabled && !known.disabled) person.login = { ...login, hasRole: true };
        await persons.updatePerson(unit, person);
        if (known.role === 'owner' && !known.disabled) await requireOwner(unit, isTokenAccepted, clock.now());
        return person;
      });
    },

    /** Deletes a person with all tokens. Throws PERSON_NOT_FOUND and LAST_OWNER. */
    remove(personId: string): Promise<void> {
      return change(async (unit, isTokenAccepted) => {
        const known = found(await persons.findPerson(unit, personId, unit.forUpdate));
        await persons.deletePerson(unit, personId);
        if (known.role === 'owner' && !known.disabled) await requireOwner(unit, isTokenAccepted, clock.now());
      });
    },

    /**
     * Makes a token for a person; `days` null: it never expires. Throws PERSON_NOT_FOUND, PERSON_TOKEN_EXISTS and
     * TOO_MANY_TOKENS.
     */
    addToken(
      personId: string,
      { name, days }: { name: string; days: number | null },
    ): Promise<tokens.PersonToken & { secret: string }> {
      const now = clock.now();
      const secret = TOKEN_PREFIX + ids.secret();
      const token = {
        tokenId: ids.next('token', now),
        personId,
        name,
        createdAt: now,
        expiresAt: days === null ? null : now + days * DAY,
        lastUsedAt: null,
      };
      return change(async (unit) => {
        found(await persons.findPerson(unit, personId, unit.forUpdate));
        if ((await tokens.listTokens(unit, personId)).length >= MOST_TOKENS)
          refuse('person_tokens', new DomainError('TOO_MANY_TOKENS', { values: { limit: MOST_TOKENS } }));
        if (!(await tokens.insertToken(unit, { ...token, secretHash: hashSecret(secret) })))
          throw new DomainError('PERSON_TOKEN_EXISTS');
        return { ...token, secret };
      });
    },

    /** Ends a token. Throws PERSON_TOKEN_NOT_FOUND; and LAST_OWNER, for the last way in. */
    revokeToken(personId: string, tokenId: string): Promise<void> {
      return change(async (unit, isTokenAccepted) => {
        if (!(await tokens.deleteToken(unit, personId, tokenId))) throw new DomainError('PERSON_TOKEN_NOT_FOUND');
        const { role, disabled } = found(await persons.findPerson(unit, personId));
        if (!isTokenAccepted && role === 'owner' && !disabled) await requireOwner(unit, isTokenAccepted, clock.now());
      });
    },

    /**
     * Replaces the secret of the token that a person has identified themselves with. It expires when it would have
     * before: only an owner can let somebody in for longer. Throws PERSON_TOKEN_NOT_FOUND.
     */
    renewToken({ tokenId, secretHash }: Identity): Promise<tokens.PersonToken & { secret: string }> {
      const secret = TOKEN_PREFIX + ids.secret();
      return change(async (unit) => {
        const known = await tokens.findToken(unit, tokenId);
        const same = await tokens.findBySecret(unit, secretHash, clock.now());
        if (!known || same?.tokenId !== tokenId) throw new DomainError('PERSON_TOKEN_NOT_FOUND');
        const fresh = { ...known, createdAt: clock.now(), lastUsedAt: null };
        await tokens.replaceSecret(unit, tokenId, { ...fresh, secretHash: hashSecret(secret) });
        return { ...fresh, secret };
      });
    },

    /** Finds the person of a token; undefined when the token is unknown or expired, or the person disabled. */
    identify: (token: string): Promise<Identity | undefined> =>
      TOKEN.test(token) ? identify(hashSecret(token)) : Promise.resolve(undefined),

    /** Looks again at a token that has identified a person before; undefined when it is no longer valid. */
    async again({ secretHash }: Pick<Identity, 'secretHash'>): Promise<tokens.Identity | undefined> {
      return tokens.findBySecret(database.read, secretHash, clock.now());
    },

    /** Whether the administrator token of the settings is accepted. */
    isTokenAccepted: (): Promise<boolean> => persons.isTokenAccepted(database.read),

    /**
     * Lets the administrator token of the settings be accepted or refused. It can be refused only by an owner who has
     * come with a token of their own, which proves that there is another way in. Throws OWN_TOKEN_NEEDED and
     * LAST_OWNER.
     */
    acceptToken(accepted: boolean, by: object | null): Promise<void> {
      return change(async (unit) => {
        if (!accepted && by === null) throw new DomainError('OWN_TOKEN_NEEDED');
        await persons.acceptToken(unit, accepted);
        if (!accepted) await requireOwner(unit, accepted, clock.now());
      });
    },
  };
}
