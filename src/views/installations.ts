import { splitVersion } from '@lapel/schemas/base/package-version';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import { type Page, pageOf } from '../runtime/page.ts';
import { createRemembered } from '../runtime/remembered.ts';
import type { Micros } from '../runtime/units.ts';
import * as repository from './installations-repository.ts';

export type InstalledName = repository.InstalledName;
export type Installation = repository.Installation;
type PackageName = repository.PackageName;
type State = repository.InstallationState;

const STATES: readonly State[] = ['installed', 'waiting', 'failed'];
/** The most packages whose counts are kept at a time, each for ten seconds. */
const REMEMBERED = 500;

export interface InstallationCounts extends Record<State, number> {
  /** The errors of failed installations, the most frequent first. */
  errors: { code: string; devices: number }[];
}

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Pick<Clock, 'now'>;
}

/** A version of a package on a device. */
interface SoftwareOfDevice {
  package: string;
  version: string;
  state: State;
  errorCode: string | null;
  /** The time of the report, request or failure, in microseconds. */
  since: Micros;
}

type ByVersion = Map<string, InstallationCounts>;

const nobody = (): InstallationCounts => ({ installed: 0, waiting: 0, failed: 0, errors: [] });

export type Installations = ReturnType<typeof createInstallations>;

/**
 * Lists the devices that have a version installed, wait for it, or failed to install it. A device that has the version
 * counts as installed, even while it waits to install it again. A device that waits counts as waiting, even if it
 * failed before. The queries run on a thread of their own.
 */
export function createInstallations({ database: { aside }, clock }: Parts) {
  const remembered = createRemembered({ clock, most: REMEMBERED });

  async function count(name: PackageName, applicationId: string | undefined): Promise<ByVersion> {
    const found: ByVersion = new Map();
    for (const state of STATES) {
      for (const { version, code, devices } of await repository.countInstallations(aside, state, name, applicationId)) {
        const counts = found.get(version) ?? nobody();
        found.set(version, counts);
        counts[state] += devices;
        if (code !== null) counts.errors.push({ code, devices });
      }
    }
    return found;
  }

  /** Counts the devices of all versions of a package. The counts may be ten seconds old. */
  function countsOf(name: PackageName, applicationId: string | undefined): Promise<ByVersion> {
    const key = [name.line, name.package, applicationId].join(' ');
    return remembered(key, () => count(name, applicationId));
  }

  return {
    /** The counts of the given versions of a package. They may be ten seconds old. */
    async counts(
      name: PackageName,
      versions: readonly string[],
      applicationId?: string,
    ): Promise<InstallationCounts[]> {
      const found = versions.length === 0 ? undefined : await countsOf(name, applicationId);
      return versions.map((version) => found?.get(version) ?? nobody());
    },

    /** Lists a page of the devices of a version, in the order of their deviceIds. */
    async list(
      name: InstalledName,
      page: { state?: State; applicationId?: string; after?: string; limit: number } & repository.InstallationFilter,
    ): Promise<Page<Installation, string>> {
      const { state, applicationId, after = '', limit, ...filter } = page;
      const wanted = STATES.filter((one) => state === undefined || one === state);
      const found = await Promise.all(
        wanted.map((one) =>
          repository.listInstallations(aside, one, name, { ...filter, applicationId, after, limit: limit + 1 }),
        ),
      );
      const sorted = found.flat().sort((one, other) => (one.deviceId < other.deviceId ? -1 : 1));
      return pageOf(sorted, limit, (row) => row.deviceId);
    },

    /**
     * Lists the software of a device: the versions that it has reported, and for each package the version that it waits
     * for, or that it last failed to install.
     */
    async ofDevice(deviceId: string): Promise<SoftwareOfDevice[]> {
      const [installed, installs] = await Promise.all([
        repository.installedOn(aside, deviceId),
        repository.installsOf(aside, deviceId),
      ]);
      const rows: SoftwareOfDevice[] = installed.map((row) => ({ ...row, state: 'installed', errorCode: null }));
      const told = new Set(installed.map(({ package: name, version }) => `${name}@${version}`));
      const ended = new Set<string>();
      for (const { subject, errorCode, createdAt, completedAt } of installs) {
        const { package: name, version } = splitVersion(subject);
        const isLast = completedAt === null || !ended.has(name);
        if (completedAt !== null) ended.add(name);
        if (!isLast || told.has(subject) || (completedAt !== null && errorCode === null)) continue;
        told.add(subject);
        const state = completedAt === null ? 'waiting' : 'failed';
        rows.push({ package: name, version, state, errorCode, since: completedAt ?? createdAt });
      }
      return rows;
    },
  };
}
