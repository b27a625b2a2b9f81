import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { memberBody, memberDetails } from '../http/member-body.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, By } from './services.ts';

type Services = Pick<AdminServices, 'members'>;

/** Gives a person of a developer a token; it is shown only in this answer. */
export async function createMember(
  { members }: Services,
  { params, body, changed }: At<'developerId', 'common/member-create'>,
): Promise<Answer> {
  const { member, token } = await members.create(params.developerId, body);
  await changed(memberDetails(member));
  const answer: SchemaTypes['common/member-created'] = { ...memberBody(member), token };
  return { status: 201, headers: NO_STORE, body: answer };
}

export async function listMembers({ members }: Services, { params }: By<'developerId'>): Promise<Answer> {
  const body: SchemaTypes['common/member-list'] = { members: (await members.list(params.developerId)).map(memberBody) };
  return { status: 200, body };
}

/** Ends the token of a person of a developer. */
export async function revokeMember({ members }: Services, { params }: By<'developerId' | 'memberId'>): Promise<Answer> {
  await members.revoke(params.developerId, params.memberId);
  return { status: 204 };
}
