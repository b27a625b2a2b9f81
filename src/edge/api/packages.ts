import type { PackageRecord } from '@lapel/schemas/contracts/types';
import type { Package } from '../../core/software/package-repository.ts';
import { binaryWarnings } from '../http/binary-warnings.ts';
import { changedValues } from '../http/changed-values.ts';
import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtPackage } from './services.ts';

type Services = Pick<ApiServices, 'software' | 'formatTime'>;

type FormatTime = ApiServices['formatTime'];

const packageBody = (row: Package, formatTime: FormatTime): PackageRecord => ({
  package: row.package,
  displayName: row.displayName,
  registerDate: formatTime(row.createdAt),
  updateDate: formatTime(row.updatedAt),
});

/** Lists the packages of the developer (op 12). */
export async function listPackages(
  { software, formatTime }: Services,
  input: AtApplication<never, 'common/paging-query'>,
): Promise<Answer> {
  const { caller, query } = input;
  const page = await software.packages.list(caller.developerId, query);
  const packages = page.packages.map((row) => packageBody(row, formatTime));
  return { status: 200, headers: nextPage(input, query, page.total), body: { packages, total: page.total } };
}

/** Lists the uploads for packages of the developer whose file differs from its registration. */
export async function listOwnBinaryWarnings(
  { software, formatTime }: Services,
  input: AtApplication<never, 'common/paging-query'>,
): Promise<Answer> {
  const { caller, query } = input;
  const found = await software.inspection.warnings({ ...query, developerId: caller.developerId });
  return { status: 200, headers: nextPage(input, query, found.total), body: binaryWarnings(found, formatTime) };
}

/** Registers a package (op 13). */
export async function registerPackage(
  { software, formatTime }: Services,
  { params, caller, body, baseUrl, changed }: AtApplication<'rest/package-create'>,
): Promise<Answer> {
  const row = await software.packages.register(caller.developerId, body);
  await changed({}, [{ kind: 'package', id: row.package }]);
  const Location = `${baseUrl}/v1/applications/${params.applicationId}/packages/${row.package}`;
  return { status: 201, headers: { Location }, body: packageBody(row, formatTime) };
}

/** Changes the display name of a package (op 14). */
export async function updatePackage(
  { software, formatTime }: Services,
  { params, caller, body, changed }: AtPackage<'rest/package-update'>,
): Promise<Answer> {
  const { displayName } = await software.packages.find(caller.developerId, params.package);
  const row = await software.packages.update(caller.developerId, params.package, body);
  await changed(changedValues({ displayName }, { displayName: row.displayName }));
  return { status: 200, body: packageBody(row, formatTime) };
}

/** Deletes a package (op 15). */
export async function removePackage({ software }: Services, { params, caller }: AtPackage): Promise<Answer> {
  await software.packages.remove(caller.developerId, params.package);
  return { status: 204 };
}
