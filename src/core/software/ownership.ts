import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Lock, Sql } from '../../platform/database/sql.ts';
import type { Catalogue } from './catalogue.ts';
import { findPackage, type Package } from './package-repository.ts';
import { findVersion, type Version } from './version-repository.ts';

/** The package and the version in the path of an operation. */
export interface VersionName {
  package: string;
  version: string;
}

/**
 * Finds a package of a developer. Any application of the developer may act on it ("developer-wide" in the
 * specification); to all others it does not seem to exist. A unit of work that changes the package passes `lock`.
 * Throws PACKAGE_NOT_FOUND.
 */
export async function requirePackage(sql: Sql, developerId: string, name: string, lock: Lock = ''): Promise<Package> {
  const found = await findPackage(sql, 'software', name, lock);
  if (found?.developerId !== developerId) throw new DomainError('PACKAGE_NOT_FOUND');
  return found;
}

/** Finds a version of a developer's package; `lock` locks the package. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND. */
export async function requireVersion(
  sql: Sql,
  developerId: string,
  name: VersionName,
  lock: Lock = '',
): Promise<Version> {
  await requirePackage(sql, developerId, name.package, lock);
  const found = await findVersion(sql, 'software', name.package, name.version);
  if (!found) throw new DomainError('VERSION_NOT_FOUND');
  return found;
}

/**
 * Finds a version of a system package or of firmware; `lock` locks the package. Throws PACKAGE_NOT_FOUND, VERSION_NOT_FOUND.
 */
export async function requireServiceVersion(
  sql: Sql,
  catalogue: Catalogue,
  name: VersionName,
  lock: Lock = '',
): Promise<Version> {
  const owner = await findPackage(sql, catalogue, name.package, lock);
  if (owner?.developerId !== null) throw new DomainError('PACKAGE_NOT_FOUND');
  const found = await findVersion(sql, catalogue, name.package, name.version);
  if (!found) throw new DomainError('VERSION_NOT_FOUND');
  return found;
}
