import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { ApplicationCertificate } from '../../core/applications/application-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'applications'>;

const certificateBody = ({
  createdAt,
  expiresAt,
  ...certificate
}: ApplicationCertificate): SchemaTypes['admin/application-certificate'] => ({
  ...certificate,
  expiresAt: utcOrNull(expiresAt),
  createdAt: toUtc(createdAt),
});

export async function addCertificate(
  { applications }: Services,
  { params, body, changed }: At<'applicationId', 'admin/application-certificate-create'>,
): Promise<Answer> {
  const added = await applications.certificates.add(params.applicationId, body);
  const { certificateId, name, kind, value } = added;
  await changed({ certificateId, name, kind, value });
  return { status: 201, body: certificateBody(added) };
}

export async function listCertificates({ applications }: Services, { params }: At<'applicationId'>): Promise<Answer> {
  const certificates = await applications.certificates.list(params.applicationId);
  return { status: 200, body: { certificates: certificates.map(certificateBody) } };
}

export async function revokeCertificate(
  { applications }: Services,
  { params }: At<'applicationId' | 'certificateId'>,
): Promise<Answer> {
  await applications.certificates.revoke(params.applicationId, params.certificateId);
  return { status: 204 };
}
