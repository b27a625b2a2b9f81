import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import { createAvailable } from './available.ts';
import { createBinaries } from './binaries.ts';
import { createDigests } from './digests.ts';
import { createDistributions } from './distributions.ts';
import { createInspection } from './inspection.ts';
import { createInstalls } from './installs.ts';
import type { ObjectStore } from './object-store.ts';
import { createObjectSweep } from './object-sweep.ts';
import { createPackages } from './packages.ts';
import type { Quotas } from './quotas.ts';
import { createServiceSoftware } from './service-software.ts';
import { createSignatures, createSoftwareKeys } from './signatures.ts';
import { createTrust } from './trust.ts';
import { createUploads } from './uploads.ts';
import { createVersions } from './versions.ts';

interface Parts {
  database: Database;
  clock: Clock;
  ids: Ids;
  log: Log;
  objects: ObjectStore;
  metrics: Metrics;
  quotas: Quotas;
  /** LAPEL_RESERVED_PACKAGE_PREFIX: names that begin with it are reserved for the service. */
  reservedPrefix: string;
  /** Called after the commit by which a version may not be installable any more. */
  unavailable(): void;
}

export type Software = ReturnType<typeof createSoftware>;

/**
 * Software distribution: software that developers register and upload, the service's own, and its installation on devices.
 */
export function createSoftware(given: Parts) {
  const inspection = createInspection(given);
  const digests = createDigests(given);
  const trust = createTrust({ ...given, inspection, digests });
  const parts = { ...given, inspection, digests, trust };
  return {
    inspection,
    digests,
    trust,
    packages: createPackages(parts),
    versions: createVersions(parts),
    binaries: createBinaries(parts),
    distributions: createDistributions(parts),
    upload: createUploads(parts),
    keys: createSoftwareKeys(parts),
    signatures: createSignatures(parts),
    available: createAvailable(parts),
    installs: createInstalls(parts),
    systemPackages: createServiceSoftware({ ...parts, catalogue: 'software' }),
    sweepObjects: createObjectSweep(parts),
    firmware: createServiceSoftware({ ...parts, catalogue: 'firmware' }),

    /** Resolves when no binary is being read. */
    async idle(): Promise<void> {
      await inspection.idle();
      await digests.idle();
    },

    /** Stops reading binaries. */
    async [Symbol.asyncDispose](): Promise<void> {
      await Promise.all([inspection[Symbol.asyncDispose](), digests[Symbol.asyncDispose]()]);
    },
  };
}
