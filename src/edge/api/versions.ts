import type { Version } from '../../core/software/version-repository.ts';
import type { VersionRecord } from '../../platform/contracts/types.ts';
import { changedValues } from '../http/changed-values.ts';
import { JsonSlices, lazily } from '../http/json-slices.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtPackage, AtVersion } from './services.ts';

const versionBody = (row: Version, formatTime: ApiServices['formatTime']): VersionRecord => ({
  package: row.package,
  version: row.version,
  description: row.description,
  registerDate: formatTime(row.createdAt),
  updateDate: formatTime(row.updatedAt),
});

/** The URI of a version. The name is encoded, because it may hold characters that a path cannot. */
export const versionUri = ({ params, baseUrl }: Pick<AtVersion, 'params' | 'baseUrl'>): string =>
  `${baseUrl}/v1/applications/${params.applicationId}/packages/${params.package}/versions/${encodeURIComponent(params.version)}`;

/** Lists the versions of a package (op 16). */
export async function listVersions(
  { software, formatTime }: ApiServices,
  input: AtPackage<never, 'common/paging-query'>,
): Promise<Answer> {
  const { params, caller, query } = input;
  const page = await software.versions.list(caller.developerId, params.package, query);
  const versions = lazily(page.versions, (row) => versionBody(row, formatTime));
  const body = new JsonSlices({ versions, total: page.total });
  return { status: 200, headers: nextPage(input, query, page.total), body };
}

/** Registers a version (op 17). */
export async function registerVersion(
  { software, formatTime }: ApiServices,
  { params, caller, body, baseUrl, changed }: AtPackage<'rest/version-create'>,
): Promise<Answer> {
  const row = await software.versions.register(caller.developerId, params.package, body);
  await changed({ version: row.version });
  const Location = versionUri({ params: { ...params, version: row.version }, baseUrl });
  return { status: 201, headers: { Location }, body: versionBody(row, formatTime) };
}

/** Changes the description of a version (op 18). */
export async function updateVersion(
  { software, formatTime }: ApiServices,
  { params, caller, body, changed }: AtVersion<'rest/version-update'>,
): Promise<Answer> {
  const { description } = await software.versions.find(caller.developerId, params);
  const row = await software.versions.update(caller.developerId, params, body);
  await changed(changedValues({ description }, { description: row.description }));
  return { status: 200, body: versionBody(row, formatTime) };
}

/** Deletes a version (op 19). */
export async function removeVersion({ software }: ApiServices, { params, caller }: AtVersion): Promise<Answer> {
  await software.versions.remove(caller.developerId, params);
  return { status: 204 };
}
