import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { SoftwareKey } from '../../core/software/signature-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'software'>;

const keyBody = ({ createdAt, ...key }: SoftwareKey): SchemaTypes['common/software-key'] => ({
  ...key,
  createdAt: toUtc(createdAt),
});

export async function addSoftwareKey(
  { software }: Services,
  { params, body, changed }: At<'developerId', 'admin/software-key-create'>,
): Promise<Answer> {
  const key = await software.keys.add(params.developerId, body);
  await changed({ keyId: key.keyId, name: key.name });
  return { status: 201, body: keyBody(key) };
}

export async function listSoftwareKeys({ software }: Services, { params }: At<'developerId'>): Promise<Answer> {
  return { status: 200, body: { keys: (await software.keys.list(params.developerId)).map(keyBody) } };
}

export async function revokeSoftwareKey(
  { software }: Services,
  { params }: At<'developerId' | 'keyId'>,
): Promise<Answer> {
  await software.keys.revoke(params.developerId, params.keyId);
  return { status: 204 };
}
