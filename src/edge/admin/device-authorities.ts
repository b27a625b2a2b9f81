import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { ShownAuthority } from '../../core/authorities/authorities.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Answer } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'authorities'>;

const authorityBody = ({
  createdAt,
  expiresAt,
  retiredAt,
  revokedAt,
  ...authority
}: ShownAuthority): SchemaTypes['admin/device-authority'] => ({
  ...authority,
  createdAt: toUtc(createdAt),
  expiresAt: toUtc(expiresAt),
  retiredAt: utcOrNull(retiredAt),
  revokedAt: utcOrNull(revokedAt),
});

/** Makes a device CA, or takes the given one. */
export async function createDeviceAuthority(
  { authorities }: Services,
  { params, body, changed }: At<'developerId', 'admin/device-authority-create'>,
): Promise<Answer> {
  const made = await authorities.create(params.developerId, body);
  const { authorityId, name, fingerprint } = made;
  const shown = authorityBody(made);
  await changed({
    authorityId,
    name,
    fingerprint,
    isGiven: body.certificate !== undefined,
    expiresAt: shown.expiresAt,
  });
  return { status: 201, body: shown };
}

export async function listDeviceAuthorities({ authorities }: Services, { params }: At<'developerId'>): Promise<Answer> {
  return { status: 200, body: { authorities: (await authorities.list(params.developerId)).map(authorityBody) } };
}

export async function readDeviceAuthority({ authorities }: Services, { params }: At<'authorityId'>): Promise<Answer> {
  return { status: 200, body: authorityBody(await authorities.find(params.authorityId)) };
}

const ended =
  (how: 'retire' | 'revoke') =>
  async ({ authorities }: Services, { params, changed }: At<'authorityId'>): Promise<Answer> => {
    const authority = await authorities[how](params.authorityId);
    const { name, fingerprint, devices, developerId } = authority;
    await changed({ name, fingerprint, devices }, [{ kind: 'developer', id: developerId }]);
    return { status: 200, body: authorityBody(authority) };
  };

/** Ends the signing of a device CA; the certificates that it has signed stay valid. */
export const retireDeviceAuthority = ended('retire');

/** Ends a device CA, with the certificates that it has signed. */
export const revokeDeviceAuthority = ended('revoke');
