import type { InstallationList } from '../platform/contracts/types.ts';
import { toUtc } from '../runtime/clock.ts';
import type { InstallationCounts, Installations, InstalledName } from './installations.ts';

/** How many devices have a version, wait for it, failed at it, and a page of them; and where the next one begins. */
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
