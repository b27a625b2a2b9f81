import type { VNode } from '../base/elements.ts';
import { pageFrom } from '../base/offset-pages.ts';
import { ROLE } from '../base/place.ts';
import { operation, readPage } from '../base/requests.ts';
import type { VersionRow } from '../base/rows.ts';
import { csvButton, EXPORT_LIMIT } from '../parts/export.ts';

/** A version as the list of an application has it; its times are local times of the service. */
interface OwnVersion {
  version: string;
  description: string | null;
  registerDate: string;
  updateDate: string;
}

/** Saves the versions of a package as a file. */
export const versionsAsCsv = (of: { name: string; line: string }): VNode =>
  ROLE === 'operator'
    ? csvButton<VersionRow>({
        name: 'versions',
        columns: [
          'version',
          'description',
          'createdAt',
          'updatedAt',
          'distributing',
          'distributionStartedAt',
          'binary',
          'warning',
          'devices',
        ],
        page: (after, signal) =>
          readPage(operation('listAnyVersions', { package: of.name }), 'versions', {
            query: { line: of.line, after, limit: EXPORT_LIMIT },
            signal,
          }),
      })
    : csvButton<OwnVersion>({
        name: 'versions',
        columns: ['version', 'description', 'registerDate', 'updateDate'],
        page: (after, signal) => pageFrom(operation('listVersions', { package: of.name }), 'versions', after, signal),
      });
