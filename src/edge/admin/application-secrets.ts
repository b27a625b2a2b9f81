import { DomainError } from '@lapel/schemas/contracts/errors';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Applications } from '../../core/applications/applications.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { readMoment } from '../http/moment.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, By } from './services.ts';

type Services = Pick<AdminServices, 'applications' | 'clock'>;

type Secret = Awaited<ReturnType<Applications['listSecrets']>>[number];

const timeOf = (micros: Micros | null): string | null => (micros === null ? null : toUtc(micros));

const rowOf = ({ secretId, name, createdAt, usedAt, endsAt }: Secret): SchemaTypes['admin/application-secret-row'] => ({
  secretId,
  name,
  createdAt: timeOf(createdAt),
  lastUsedAt: timeOf(usedAt),
  endsAt: timeOf(endsAt),
});

/** Lists the valid secrets of an application, without the secrets themselves. */
export async function listSecrets({ applications }: Services, { params }: By<'applicationId'>): Promise<Answer> {
  const secrets = await applications.listSecrets(params.applicationId);
  return { status: 200, body: { secrets: secrets.map(rowOf) } };
}

/** Issues another secret, beside the one of before. */
export async function addSecret(
  { applications, clock }: Services,
  { params, body, changed }: At<'applicationId', 'admin/application-secret-create'>,
): Promise<Answer> {
  const { name = null, formerEndsAt } = body ?? {};
  const endsAt = formerEndsAt === undefined ? null : readMoment(formerEndsAt, 'body', 'formerEndsAt');
  if (endsAt !== null && endsAt <= clock.now()) {
    const msg = 'Time should be in the future';
    throw DomainError.invalid({ loc: ['body', 'formerEndsAt'], msg, type: 'greater_than_equal' });
  }
  const { secret, ...added } = await applications.addSecret(params.applicationId, { name, formerEndsAt: endsAt });
  await changed({ secretId: added.secretId, name, ...(formerEndsAt !== undefined && { formerEndsAt }) });
  return { status: 201, headers: NO_STORE, body: { ...rowOf(added), secret } };
}

/** Ends a secret, with its access tokens and streams. */
export async function endSecret(
  { applications }: Services,
  { params }: At<'applicationId' | 'secretId'>,
): Promise<Answer> {
  await applications.endSecret(params.applicationId, params.secretId);
  return { status: 204 };
}
