import { DomainError } from '@lapel/schemas/contracts/errors';
import type { DeviceAnswer } from '@lapel/schemas/contracts/types';
import type { CertifiedDevice } from '../../core/devices/device-repository.ts';
import { toUtc } from '../../runtime/clock.ts';
import { changedValues } from '../http/changed-values.ts';
import { NO_STORE } from '../http/no-store.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, At, List } from './services.ts';

type Services = Pick<AdminServices, 'devices' | 'formatTime' | 'settings'>;

const issuedBody = (issued: CertifiedDevice['issued']): DeviceAnswer['issuedCertificate'] =>
  issued && { fingerprint: issued.fingerprint, authorityId: issued.authorityId, expiresAt: toUtc(issued.until) };

function deviceBody(
  device: CertifiedDevice,
  { formatTime, settings }: Pick<Services, 'formatTime' | 'settings'>,
): DeviceAnswer {
  return {
    deviceId: device.deviceId,
    developerId: device.developerId,
    activation: device.activation,
    applicationId: device.applicationId,
    clientId: device.clientId,
    hardwareProperties: device.hardwareProperties as DeviceAnswer['hardwareProperties'],
    blocked: device.blocked,
    certificates: device.certificate === null ? 'any' : device.certificate === '' ? 'none' : 'named',
    clientCa: settings.some(({ name, isSet }) => name === 'LAPEL_MQTT_CLIENT_CA' && isSet),
    certificateFingerprint: device.certificate || null,
    credentialOfferedAt: device.credentialOfferedAt === null ? null : formatTime(device.credentialOfferedAt),
    issuedCertificate: issuedBody(device.issued),
    offeredCertificate: issuedBody(device.nextIssued),
    createdAt: formatTime(device.createdAt),
  };
}

export async function registerDevice(
  { devices }: Services,
  { params, body, changed }: At<'developerId', 'admin/device-register'>,
): Promise<Answer> {
  const registered = await devices.register({ developerId: params.developerId, ...body });
  await changed({}, [{ kind: 'device', id: body.deviceId }]);
  return { status: 201, headers: NO_STORE, body: registered };
}

export async function listDevices({ devices, ...shown }: Services, input: List<'developerId'>): Promise<Answer> {
  const page = await devices.list(input.params.developerId, input.query);
  const rows = page.devices.map((device) => deviceBody(device, shown));
  return {
    status: 200,
    headers: nextPage(input, input.query, page.total),
    body: { devices: rows, total: page.total },
  };
}

export async function readDevice({ devices, ...shown }: Services, { params }: At<'deviceId'>): Promise<Answer> {
  return { status: 200, body: deviceBody(await devices.find(params.deviceId), shown) };
}

export async function updateDevice(
  { devices, ...shown }: Services,
  { params, body, changed }: At<'deviceId', 'admin/device-update'>,
): Promise<Answer> {
  const before = await devices.find(params.deviceId);
  const after = await devices.update(params.deviceId, body);
  await changed(changedValues(before, after));
  return { status: 200, body: deviceBody(after, shown) };
}

export async function deleteDevice(
  { devices }: Services,
  { params, query }: At<'deviceId', never, 'admin/device-delete-query'>,
): Promise<Answer> {
  await devices.remove(params.deviceId, { force: query.force === 'true' });
  return { status: 204 };
}

export async function replaceCredential(
  { devices }: Services,
  { params, body, changed }: At<'deviceId', 'admin/credential-replace'>,
): Promise<Answer> {
  const { keepsFormer = false, certificateFingerprint, ...given } = body ?? {};
  if (keepsFormer && certificateFingerprint !== undefined) {
    const msg = 'Certificates end when the credential is replaced, so this cannot be combined with keepsFormer';
    throw DomainError.invalid({ loc: ['body', 'certificateFingerprint'], msg, type: 'extra_forbidden' });
  }
  const certificate = certificateFingerprint === undefined ? {} : { certificateFingerprint };
  const replaced = keepsFormer
    ? await devices.offerCredential(params.deviceId, given)
    : await devices.replaceCredential(params.deviceId, { ...given, ...certificate });
  await changed({ [keepsFormer ? 'offered' : 'replaced']: ['credential'] });
  return { status: 201, headers: NO_STORE, body: replaced };
}
