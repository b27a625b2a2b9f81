import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { memberBody, memberDetails } from '../http/member-body.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtMember, Caller } from './services.ts';

type Services = Pick<ApiServices, 'members' | 'developers'>;

/**
 * Lets only the admin of a developer through: a thief with the secret of an application must not let people in, whose
 * tokens would outlive that secret and open the other applications as well. Throws ROLE_INSUFFICIENT.
 */
function requireAdmin({ member, developerId, applicationId }: Caller): string {
  const own = member?.role ?? 'application';
  const who = { applicationId, ...(member && { personId: member.memberId }) };
  if (own !== 'admin') throw new DomainError('ROLE_INSUFFICIENT', { values: { role: 'admin', own, ...who } });
  return developerId;
}

/** Reads whose token it is, and what it permits. */
export async function readOwnAccess({ developers }: Services, { params, caller }: AtApplication): Promise<Answer> {
  const { name, member, developerId, scopes } = caller;
  const body: SchemaTypes['rest/own-access'] = {
    applicationId: params.applicationId,
    applicationName: name,
    developerId,
    developerName: (await developers.find(developerId)).name,
    scopes: [...scopes],
    member: member
      ? { memberId: member.memberId, name: member.name, role: member.role, expiresAt: toUtc(member.expiresAt) }
      : null,
  };
  return { status: 200, body };
}

export async function listMembers({ members }: Services, { caller }: AtApplication): Promise<Answer> {
  const found = await members.list(requireAdmin(caller));
  const body: SchemaTypes['common/member-list'] = { members: found.map(memberBody) };
  return { status: 200, body };
}

/** Gives a person of the developer a token; it is shown only in this answer. */
export async function createMember(
  { members }: Services,
  { caller, body, changed }: AtApplication<'common/member-create'>,
): Promise<Answer> {
  const { member, token } = await members.create(requireAdmin(caller), body);
  await changed(memberDetails(member));
  const answer: SchemaTypes['common/member-created'] = { ...memberBody(member), token };
  return { status: 201, headers: NO_STORE, body: answer };
}

/** Ends the token of a person of the developer. */
export async function revokeMember({ members }: Services, { caller, params }: AtMember): Promise<Answer> {
  await members.revoke(requireAdmin(caller), params.memberId);
  return { status: 204 };
}
