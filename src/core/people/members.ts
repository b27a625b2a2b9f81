import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import { createLastUses } from '../../platform/database/last-uses.ts';
import type { Database, Lock, Sql } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { hashSecret } from '../../runtime/secret-hash.ts';
import {
  deleteMember,
  findMemberBySecret,
  insertMember,
  listMembers,
  type Member,
  saveMemberUse,
} from './member-repository.ts';
import type { MemberRole } from './member-roles.ts';

/** The most members of a developer. */
export const MOST_MEMBERS = 100;
/** Days for which a token is valid when its maker does not say. */
const USUAL_DAYS = 90;
const DAY = 86_400_000_000;
/** The beginning of every token of a member, by which it is told from an access token. */
export const MEMBER_TOKEN_PREFIX = 'lapeldev_';
const TOKEN = /^lapeldev_[\w-]{43}$/;

interface Parts {
  database: Pick<Database, 'read' | 'transact'>;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'httpRefused'>;
  /** Throws DEVELOPER_NOT_FOUND. */
  requireDeveloper(developerId: string): Promise<unknown>;
  /** Throws DEVELOPER_NOT_FOUND and DEVELOPER_LEAVING. */
  requireStaying(developerId: string, sql?: Sql, lock?: Lock): Promise<unknown>;
  /** Called after a token was revoked, so that its streams end on every node. */
  ended(): void;
}

export type Members = ReturnType<typeof createMembers>;

/**
 * The people of developers, each with a role and a token for the applications of their developer. A token is returned
 * once, and stored as SHA-256. It is looked up for each request, so its end has an effect at once, on every node.
 */
export function createMembers({ database, clock, ids, log, metrics, requireDeveloper, requireStaying, ended }: Parts) {
  const uses = createLastUses({ database, clock, log });

  return {
    /**
     * Makes a member, whose token is returned only now. Throws DEVELOPER_NOT_FOUND, DEVELOPER_LEAVING, MEMBER_EXISTS and
     * TOO_MANY_MEMBERS.
     */
    async create(
      developerId: string,
      wanted: { name: string; role: MemberRole; expiresInDays?: number },
    ): Promise<{ member: Member; token: string }> {
      const now = clock.now();
      const token = MEMBER_TOKEN_PREFIX + ids.secret();
      const member: Member = {
        memberId: ids.next('member', now),
        developerId,
        name: wanted.name,
        role: wanted.role,
        createdAt: now,
        expiresAt: now + (wanted.expiresInDays ?? USUAL_DAYS) * DAY,
        lastUsedAt: null,
      };
      await database.transact(async (unit) => {
        await requireStaying(developerId, unit, unit.forUpdate);
        if ((await listMembers(unit, developerId)).length >= MOST_MEMBERS) {
          metrics.httpRefused.inc({ bound: 'members' });
          throw new DomainError('TOO_MANY_MEMBERS', { values: { limit: MOST_MEMBERS } });
        }
        if (!(await insertMember(unit, member, hashSecret(token)))) throw new DomainError('MEMBER_EXISTS');
      });
      return { member, token };
    },

    /** All members of a developer, also those whose token has expired. Throws DEVELOPER_NOT_FOUND. */
    async list(developerId: string): Promise<Member[]> {
      await requireDeveloper(developerId);
      return listMembers(database.read, developerId);
    },

    /** Ends the token of a member, who is then gone. Throws MEMBER_NOT_FOUND. */
    async revoke(developerId: string, memberId: string): Promise<void> {
      await database.transact(async (unit) => {
        if (!(await deleteMember(unit, developerId, memberId))) throw new DomainError('MEMBER_NOT_FOUND');
        unit.onCommit(ended);
      });
    },

    /** Whether a text is the token of a member, valid or not, and no access token. */
    isToken: (token: string): boolean => token.startsWith(MEMBER_TOKEN_PREFIX),

    /** Finds the member of a token; undefined for one that is wrong, expired or revoked. */
    async identify(token: string): Promise<Member | undefined> {
      if (!TOKEN.test(token)) return undefined;
      const member = await findMemberBySecret(database.read, hashSecret(token), clock.now());
      if (!member) return undefined;
      const { memberId, lastUsedAt } = member;
      uses.note(memberId, lastUsedAt, (unit, at) => saveMemberUse(unit, memberId, at));
      return member;
    },
  };
}
