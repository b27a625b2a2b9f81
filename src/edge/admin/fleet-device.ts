import type { DeviceConnection, DeviceTransactionQuery, FleetDeviceStatus } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import { utcOrNull } from './fleet-devices.ts';
import { transactionRows } from './fleet-transactions.ts';
import type { AdminServices, At } from './services.ts';

type Services = Pick<AdminServices, 'devices' | 'statuses' | 'installations' | 'connection' | 'overview'>;

/** A reported value, checked by the schema mqtt/status when it was stored. */
type Reported = FleetDeviceStatus['fields'][number]['value'];

/** Reads the last reported fields of a device, and the software installed on it. */
export async function readFleetDeviceStatus(
  { devices, statuses, installations }: Services,
  { params: { deviceId } }: At<'deviceId'>,
): Promise<Answer> {
  await devices.find(deviceId);
  const [stored, installed] = await Promise.all([statuses.reported(deviceId), installations.ofDevice(deviceId)]);
  const fields = Object.entries(stored?.reported ?? {}).map(([name, { value, at }]) => ({
    name,
    value: value as Reported,
    at: toUtc(at),
  }));
  const body: FleetDeviceStatus = {
    deviceId,
    reportedAt: utcOrNull(stored?.reportedAt ?? null),
    fields,
    software: installed.map(({ since, ...row }) => ({ ...row, since: toUtc(since) })),
  };
  return { status: 200, body };
}

export async function readConnection(
  { devices, statuses, connection }: Services,
  { params: { deviceId } }: At<'deviceId'>,
): Promise<Answer> {
  await devices.find(deviceId);
  const [{ live, node, session }, state] = await Promise.all([connection(deviceId), statuses.find(deviceId)]);
  const body: DeviceConnection = {
    connected: live !== undefined || node !== null,
    since: utcOrNull(live?.since ?? null),
    address: live?.address ?? null,
    transport: live?.transport ?? null,
    keepAliveSeconds: live?.keepAliveSeconds ?? null,
    protocol: live?.protocol ?? null,
    session,
    withoutCommandsSince: utcOrNull(live?.withoutCommandsSince ?? null),
    lastSeenAt: utcOrNull(state.lastSeenAt),
    node,
  };
  return { status: 200, body };
}

export async function closeConnection({ devices }: Services, { params }: At<'deviceId'>): Promise<Answer> {
  await devices.disconnect(params.deviceId);
  return { status: 204 };
}

/** Lists the transactions of a device, of all applications. */
export async function listFleetDeviceTransactions(
  services: Services,
  input: Input<{ deviceId: string }, unknown, DeviceTransactionQuery>,
): Promise<Answer> {
  const { deviceId } = input.params;
  await services.devices.find(deviceId);
  const { unfinished, ...page } = input.query;
  const query = { ...page, deviceId, unfinished: unfinished === 'true', warning: false };
  const { rows, next } = await services.overview.list(query);
  const headers = next === undefined ? {} : nextPageAfter(input, query, { after: next });
  return { status: 200, headers, body: transactionRows(rows) };
}
