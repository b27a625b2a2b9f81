import { nextPage } from '../http/paging.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices, List } from './services.ts';

/**
 * Lists the uploaded binaries that cannot be read as an APK, or whose manifest names another package or version than the
 * one they were uploaded for.
 */
export async function listBinaryWarnings({ software, formatTime }: AdminServices, input: List): Promise<Answer> {
  const { rows, total } = await software.inspection.warnings(input.query);
  const warnings = rows.map((row) => ({
    package: row.package,
    version: row.version,
    warning: row.warning,
    found:
      row.foundPackage === null
        ? null
        : { package: row.foundPackage, versionName: row.foundVersionName, versionCode: row.foundVersionCode },
    readAt: formatTime(row.readAt),
  }));
  return { status: 200, headers: nextPage(input, input.query, total), body: { warnings, total } };
}
