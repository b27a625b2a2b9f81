import type { Clock } from '../clock.ts';
import type { Database } from '../database/sql.ts';
import * as repository from './installations-repository.ts';

export type InstalledName = repository.InstalledName;
export type Installation = repository.Installation;
type State = Installation['state'];

const STATES: readonly State[] = ['installed', 'waiting', 'failed'];
/** Microseconds for which a number is believed; and how many versions are remembered for so long. */
const KEPT = 10_000_000;
const REMEMBERED = 1_000;

export interface InstallationCounts extends Record<State, number> {
  errors: { code: string; devices: number }[];
}

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Pick<Clock, 'now'>;
}

/** Software of a device: what it has, and what it waits for or failed at besides. */
interface SoftwareOfDevice {
  package: string;
  version: string;
  state: State;
  errorCode: string | null;
  /** Microseconds. */
  since: number;
}

export type Installations = ReturnType<typeof createInstallations>;

/**
 * Which devices have a version, wait for it, or failed at it. One that has it now counts as such, whatever it waits for; one
 * that waits, whatever it failed at before. Looked up on a thread of its own.
 */
export function createInstallations({ database: { aside }, clock }: Parts) {
  const known = new Map<string, { until: number; counts: Promise<InstallationCounts> }>();

  async function count(name: InstalledName, applicationId: string | undefined): Promise<InstallationCounts> {
    const counted = { installed: 0, waiting: 0, failed: 0 };
    const errors: InstallationCounts['errors'] = [];
    for (const state of STATES) {
      for (const { code, devices } of await repository.countInstallations(aside, state, name, { applicationId })) {
        counted[state] += devices;
        if (code !== null) errors.push({ code, devices });
      }
    }
    return { ...counted, errors };
  }

  return {
    /** How many; as of the last ten seconds. */
    counts(name: InstalledName, applicationId?: string): Promise<InstallationCounts> {
      const key = [name.line, name.package, name.version, applicationId].join(' ');
      const now = clock.now();
      const found = known.get(key);
      if (found && found.until > now) return found.counts;
      known.delete(key); // its place is the last one again
      if (known.size >= REMEMBERED) for (const [first] of known.entries().take(1)) known.delete(first);
      const counts = count(name, applicationId);
      known.set(key, { until: now + KEPT, counts });
      counts.catch(() => known.delete(key));
      return counts;
    },

    /** A page of the devices, by deviceId. */
    async list(
      name: InstalledName,
      {
        state,
        applicationId,
        after = '',
        limit,
      }: { state?: State; applicationId?: string; after?: string; limit: number },
    ): Promise<{ devices: Installation[]; next: string | undefined }> {
      const page = { applicationId, after, limit: limit + 1 };
      const wanted = state === undefined ? STATES : [state];
      const found = await Promise.all(wanted.map((one) => repository.listInstallations(aside, one, name, page)));
      const sorted = found.flat().sort((one, other) => (one.deviceId < other.deviceId ? -1 : 1));
      const devices = sorted.slice(0, limit);
      return { devices, next: sorted.length > limit ? devices.at(-1)?.deviceId : undefined };
    },

    /** What a device has by its last report; and of each package what it waits for, or failed at last. */
    async ofDevice(deviceId: string): Promise<SoftwareOfDevice[]> {
      const [installed, installs] = await Promise.all([
        repository.installedOn(aside, deviceId),
        repository.installsOf(aside, deviceId),
      ]);
      const rows: SoftwareOfDevice[] = installed.map((row) => ({ ...row, state: 'installed', errorCode: null }));
      const has = new Set(installed.map(({ package: name, version }) => `${name}@${version}`));
      const decided = new Set<string>();
      for (const { subject, errorCode, createdAt, completedAt } of installs) {
        const [name = '', version = ''] = subject.split('@');
        if (completedAt === null) {
          if (!decided.has(subject))
            rows.push({ package: name, version, state: 'waiting', errorCode: null, since: createdAt });
          decided.add(subject);
        } else {
          // Of those that have ended the last one counts.
          const isLast = !decided.has(name);
          decided.add(name);
          if (!isLast || errorCode === null || has.has(subject) || decided.has(subject)) continue;
          rows.push({ package: name, version, state: 'failed', errorCode, since: completedAt });
        }
      }
      return rows;
    },
  };
}
