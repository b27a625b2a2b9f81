import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { type Clearing, pagesBy } from '../applications/clearing.ts';
import { objectKey } from './binary.ts';
import type { ObjectStore } from './object-store.ts';
import { forgetBinary, rememberOrphan } from './orphan-repository.ts';
import { deletePackage, findPackage } from './package-repository.ts';
import type { Quotas } from './quotas.ts';
import { deleteVersion, findVersion } from './version-repository.ts';

interface Found {
  package: string;
  version: string;
  binaryId: string;
}

interface Parts {
  clock: Clock;
  log: Log;
  objects: Pick<ObjectStore, 'remove'>;
  quotas: Pick<Quotas, 'count'>;
}

/**
 * Removes the versions of a developer, whose binaries follow at once. Each object is recorded as one that no version refers
 * to: it is removed a day later if the store does not answer now, or if it is uploaded again with a URL that is still valid.
 */
export const versionClearing = ({ clock, log, objects, quotas }: Parts): Clearing<Found> => ({
  kind: 'versions',
  async *find(sql, { developerId, applicationId }) {
    if (applicationId !== null) return; // software belongs to the developer
    const first = { package: '', version: '' };
    yield* pagesBy<Found, typeof first>(
      first,
      (row) => row,
      (after, limit) =>
        sql.all<Found>(
          `SELECT v.package, v.version, v.binary_id AS "binaryId" FROM packages p
           JOIN versions v ON v.line = p.line AND v.package = p.package
         WHERE p.line = 'software' AND p.developer_id = ? AND (v.package, v.version) > (?, ?)
         ORDER BY v.package, v.version LIMIT ?`,
          developerId,
          after.package,
          after.version,
          limit,
        ),
    );
  },
  async remove(unit, found, { developerId }) {
    const owner = await findPackage(unit, 'software', found.package, unit.forUpdate);
    const known = owner && (await findVersion(unit, 'software', found.package, found.version));
    if (owner?.developerId !== developerId || known?.binaryId !== found.binaryId) return {};
    const { binaryId, storedBytes } = known;
    await rememberOrphan(unit, { binaryId, foundAt: clock.now() });
    await deleteVersion(unit, 'software', found.package, found.version);
    await forgetBinary(unit, binaryId);
    await quotas.count(unit, developerId, { versions: -1, storedBytes: -storedBytes });
    return { versions: 1, storedBytes };
  },
  alone: () => undefined,
  async removed({ binaryId }) {
    await objects.remove(objectKey(binaryId)).catch((err: unknown) => {
      log.warn({ err, binaryId }, 'the object of a removed version could not be removed; it will be removed in a day');
    });
  },
});

/** Removes the packages of a developer, which have no versions any more; of an application, its permissions. */
export const packageClearing = ({ quotas }: Pick<Parts, 'quotas'>): Clearing<{ package: string }> => ({
  kind: 'packages',
  find: (sql, { developerId, applicationId }) =>
    pagesBy(
      '',
      (row) => row.package,
      (after, limit) =>
        sql.all<{ package: string }>(
          applicationId === null
            ? `SELECT package FROM packages WHERE line = 'software' AND developer_id = ? AND package > ?
             ORDER BY package LIMIT ?`
            : `SELECT package FROM package_permissions WHERE line = 'software' AND application_id = ? AND package > ?
             ORDER BY package LIMIT ?`,
          applicationId ?? developerId,
          after,
          limit,
        ),
    ),
  async remove(unit, { package: name }, { developerId, applicationId }) {
    if (applicationId !== null) {
      await unit.run(
        `DELETE FROM package_permissions WHERE line = 'software' AND package = ? AND application_id = ?`,
        name,
        applicationId,
      );
      return {};
    }
    const known = await findPackage(unit, 'software', name, unit.forUpdate);
    if (known?.developerId !== developerId) return {};
    await deletePackage(unit, 'software', name);
    await quotas.count(unit, developerId, { packages: -1 });
    return { packages: 1 };
  },
  alone: () => undefined,
});
