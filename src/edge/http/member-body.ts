import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Member } from '../../core/people/member-repository.ts';
import { toUtc } from '../../runtime/clock.ts';

/** Makes the body of a person of a developer, without their token. */
export const memberBody = ({
  memberId,
  name,
  role,
  createdAt,
  expiresAt,
  lastUsedAt,
}: Member): SchemaTypes['common/member'] => ({
  memberId,
  name,
  role,
  createdAt: toUtc(createdAt),
  expiresAt: toUtc(expiresAt),
  lastUsedAt: lastUsedAt === null ? null : toUtc(lastUsedAt),
});

/** The details of a new person, for the audit log. */
export const memberDetails = ({ memberId, name, role, expiresAt }: Member): object => ({
  id: memberId,
  name,
  role,
  expiresAt: toUtc(expiresAt),
});
