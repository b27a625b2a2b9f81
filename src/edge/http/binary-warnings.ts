import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { BinaryContent } from '../../core/software/binary-content-repository.ts';

/** The body of a list of uploads that differ from their registration. */
export const binaryWarnings = (
  { rows, total }: { rows: readonly BinaryContent[]; total: number },
  formatTime: (micros: number) => string,
): SchemaTypes['common/binary-warning-list'] => ({
  warnings: rows.map((row) => ({
    package: row.package,
    version: row.version,
    warning: row.warning ?? '',
    found:
      row.foundPackage === null
        ? null
        : { package: row.foundPackage, versionName: row.foundVersionName, versionCode: row.foundVersionCode },
    readAt: formatTime(row.readAt),
  })),
  total,
});
