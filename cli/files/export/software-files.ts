import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import { versionsOf } from '../kinds/versions.ts';
import { pick } from '../plan/compare.ts';
import type { ExportedFile } from './write-yaml.ts';

type Package = NonNullable<SchemaTypes['files/configuration']['packages']>[number];
type Version = NonNullable<Package['versions']>[number];

/** The packages of the developer of the application. Binaries are named by nobody: they are not downloaded. */
export async function exportPackages(application: Application): Promise<ExportedFile> {
  const rows = await application.call('list the packages', async (lapel) => {
    const all: SchemaTypes['rest/package'][] = [];
    for await (const one of lapel.each('listPackages', {})) all.push(one);
    return all;
  });
  const packages: Package[] = [];
  for (const { package: name, displayName } of rows) {
    const versions = await versionsOf(application, name);
    packages.push({
      package: name,
      displayName,
      versions: versions.map(
        (one): Version => ({
          ...pick(one, ['version', 'description', 'requires', 'revertOf']),
          ...(one.distribution && { distributed: one.distribution.distributable }),
        }),
      ),
    });
  }
  const hasBinaries = packages.some(({ versions = [] }) => versions.length > 0);
  return {
    name: 'packages.yaml',
    content: { application: application.applicationId, packages },
    notes: hasBinaries
      ? ['Binaries and signatures are not downloaded. Name them with file and signature to have them compared.']
      : [],
  };
}
