import type { InstallationList } from '@lapel/schemas/contracts/types';
import { toUtc } from '../runtime/clock.ts';
import type { InstallationCounts, Installations, InstalledName } from './installations.ts';

/**
 * Makes the body of a list of installations: the number of devices in each state, a page of devices, and the cursor of
 * the next page.
 */
export async function installationBody(
  installations: Pick<Installations, 'counts' | 'list'>,
  name: InstalledName,
  page: Parameters<Installations['list']>[1],
): Promise<{ body: InstallationList; next: string | undefined }> {
  const [[counts], { rows: devices, next }] = await Promise.all([
    installations.counts(name, [name.version], page.applicationId),
    installations.list(name, page),
  ]);
  const rows = devices.map(({ since, ...device }) => ({ ...device, since: since === null ? null : toUtc(since) }));
  return { body: { ...(counts as InstallationCounts), devices: rows }, next };
}
