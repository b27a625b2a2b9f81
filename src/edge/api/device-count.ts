import type { DeviceCount } from '@lapel/schemas/contracts/types';
import { readSelector } from '../../core/selection/read-selector.ts';
import type { SelectionCount } from '../../core/selection/selection.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication } from './services.ts';

type Services = Pick<ApiServices, 'selection' | 'clock'>;

/** The most versions of an answer. */
const MOST_VERSIONS = 50;

const mostFrequent = (counts: ReadonlyMap<string | null, number>): { version: string | null; devices: number }[] =>
  [...counts]
    .map(([version, devices]) => ({ version, devices }))
    .toSorted((one, other) => other.devices - one.devices || ((one.version ?? '') < (other.version ?? '') ? -1 : 1))
    .slice(0, MOST_VERSIONS);

/** Counts the devices that a selector matches, and what they have. */
export async function countDevices(
  { selection, clock }: Services,
  { params, body }: AtApplication<'rest/device-count-request'>,
): Promise<Answer> {
  const { devices, versionsOf = devices.package } = body;
  const selector = readSelector(devices, clock.now());
  const count = await selection.count(params.applicationId, selector, versionsOf);
  return { status: 200, body: countAnswer(count, versionsOf !== undefined) };
}

/** A count as the API shows it; `hasVersions`: with the versions of a package. */
export const countAnswer = (count: SelectionCount, hasVersions: boolean): DeviceCount => ({
  matching: count.matching,
  connected: count.connected,
  estimate: count.isEstimate,
  ...(hasVersions && { versions: mostFrequent(count.versions) }),
  firmwareVersions: mostFrequent(count.firmwareVersions),
});
