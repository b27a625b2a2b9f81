import { DomainError } from '@lapel/schemas/contracts/errors';
import type { VersionRecord } from '@lapel/schemas/contracts/types';
import type { Binary } from '../../core/software/binaries.ts';
import { distributionDate } from '../../core/software/distribution-date.ts';
import type { Version } from '../../core/software/version-repository.ts';
import { changedValues } from '../http/changed-values.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import { binaryBody } from './binaries.ts';
import type { ApiServices, AtPackage, AtVersion } from './services.ts';

type Services = Pick<ApiServices, 'software' | 'formatTime'>;

const versionBody = (row: Version, formatTime: ApiServices['formatTime']): VersionRecord => ({
  package: row.package,
  version: row.version,
  description: row.description,
  ...(row.revertOf !== null && { revertOf: row.revertOf }),
  ...(row.requiresFirmware !== null && { requires: { firmwareVersion: row.requiresFirmware } }),
  registerDate: formatTime(row.createdAt),
  updateDate: formatTime(row.updatedAt),
});

/** The URI of a version. The name is encoded, because it may hold characters that a path cannot. */
export const versionUri = ({ params, baseUrl }: Pick<AtVersion, 'params' | 'baseUrl'>): string =>
  `${baseUrl}/v1/applications/${params.applicationId}/packages/${params.package}/versions/${encodeURIComponent(params.version)}`;

/** The most versions of a list with details, because each binary is looked up in the object store. */
const MOST_DETAILED = 100;
/** The most simultaneous look-ups for one list. */
const AT_ONCE = 8;

const NO_BINARY: Binary = {
  stored: undefined,
  sha256: undefined,
  inspected: false,
  warning: null,
  certificates: [],
  signature: 'none',
};

/** A version that was removed while the list is made has no binary. */
function ofRemoved(error: unknown): Binary {
  if (error instanceof DomainError && error.code === 'VERSION_NOT_FOUND') return NO_BINARY;
  throw error;
}

/** The versions of a page, each with the state of its binary and of its distribution. */
async function detailed(
  { software, formatTime }: Services,
  developerId: string,
  rows: readonly Version[],
): Promise<VersionRecord[]> {
  const versions: VersionRecord[] = [];
  const detailsOf = async (row: Version): Promise<VersionRecord> => ({
    ...versionBody(row, formatTime),
    binary: binaryBody(row, await software.binaries.find(developerId, row).catch(ofRemoved), formatTime),
    distribution: {
      distributable: row.distributionStartedAt !== null,
      ...(row.distributionStartedAt !== null && {
        distributionDate: distributionDate(row.distributionStartedAt, formatTime),
      }),
    },
  });
  for (let start = 0; start < rows.length; start += AT_ONCE)
    versions.push(...(await Promise.all(rows.slice(start, start + AT_ONCE).map(detailsOf))));
  return versions;
}

/** Lists the versions of a package (op 16). */
export async function listVersions(
  services: Services,
  input: AtPackage<never, 'rest/version-list-query'>,
): Promise<Answer> {
  const { software, formatTime } = services;
  const { params, caller, query } = input;
  const { details, limit, offset } = query;
  if (details === 'true' && limit > MOST_DETAILED) {
    const msg = `Input should be at most ${MOST_DETAILED} with details`;
    throw DomainError.invalid({ loc: ['query', 'limit'], msg, type: 'less_than_equal' });
  }
  const page = await software.versions.list(caller.developerId, params.package, { limit, offset });
  const versions =
    details === 'true'
      ? await detailed(services, caller.developerId, page.versions)
      : lazily(page.versions, (row) => versionBody(row, formatTime));
  const body = new JsonSlices({ versions, total: page.total });
  return { status: 200, headers: nextPage(input, query, page.total), body };
}

/** Registers a version (op 17). */
export async function registerVersion(
  { software, formatTime }: Services,
  { params, caller, body, baseUrl, changed }: AtPackage<'rest/version-create'>,
): Promise<Answer> {
  const row = await software.versions.register(caller.developerId, params.package, body);
  await changed({ version: row.version });
  const Location = versionUri({ params: { ...params, version: row.version }, baseUrl });
  return { status: 201, headers: { Location }, body: versionBody(row, formatTime) };
}

/** Changes a version (op 18). */
export async function updateVersion(
  { software, formatTime }: Services,
  { params, caller, body, changed }: AtVersion<'rest/version-update'>,
): Promise<Answer> {
  const before = await software.versions.find(caller.developerId, params);
  const row = await software.versions.update(caller.developerId, params, body);
  const values = ({ description, revertOf, requiresFirmware }: Version): object => ({
    description,
    revertOf,
    requiresFirmware,
  });
  await changed(changedValues(values(before), values(row)));
  return { status: 200, body: versionBody(row, formatTime) };
}

/** Deletes a version (op 19). */
export async function removeVersion({ software }: Services, { params, caller }: AtVersion): Promise<Answer> {
  await software.versions.remove(caller.developerId, params);
  return { status: 204 };
}
