import type { AvailableVersionRecord } from '@lapel/schemas/contracts/types';
import type { AvailableVersion } from '../../core/software/available-repository.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication } from './services.ts';

type Services = Pick<ApiServices, 'software' | 'formatTime'>;

/** Lists the versions that the application may install (op 24). */
export async function listAvailable(
  { software, formatTime }: Services,
  input: AtApplication<never, 'rest/available-software-query'>,
): Promise<Answer> {
  const { caller, query } = input;
  const { userPackages, systemPackages, total } = await software.available.list(caller, query);
  const record = (row: AvailableVersion): AvailableVersionRecord => ({
    package: row.package,
    displayName: row.displayName,
    version: row.version,
    description: row.description,
    distributable: row.distributionStartedAt !== null,
    registerDate: formatTime(row.createdAt),
    updateDate: formatTime(row.updatedAt),
  });
  const body = new JsonSlices({
    userPackages: lazily(userPackages, record),
    systemPackages: lazily(systemPackages, record),
    total,
    offset: query.offset,
    limit: query.limit,
  });
  return { status: 200, headers: nextPage(input, query, total), body };
}

/** Lists the versions of firmware (op 29). */
export async function listFirmware({ software }: Services): Promise<Answer> {
  return { status: 200, body: { firmwareVersions: await software.available.firmware() } };
}
