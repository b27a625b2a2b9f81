import type { FleetDeviceQuery } from '@lapel/schemas/contracts/types';
import { toUtc } from '../../runtime/clock.ts';
import { cursorOf, deviceRow, readFleetQuery } from '../../views/device-row.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPageAfter } from '../http/paging.ts';
import type { Answer, Input } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'fleet' | 'clock'>;

export const utcOrNull = (micros: number | null): string | null => (micros === null ? null : toUtc(micros));

export async function listFleetDevices(
  { fleet, clock }: Services,
  input: Input<unknown, unknown, FleetDeviceQuery>,
): Promise<Answer> {
  const query = readFleetQuery(input.query, clock.now());
  const { rows: devices, next } = await fleet.list(query);
  const headers = next ? nextPageAfter(input, query, { after: cursorOf(next, query.order) }) : {};
  return { status: 200, headers, body: new JsonSlices({ devices: lazily(devices, deviceRow) }) };
}
