import { DomainError } from '../../errors.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Software } from '../software/software.ts';
import type { InstallName } from '../transactions/installation.ts';
import { isInstall, lineOf } from '../transactions/operations.ts';
import type { Rollout } from './rollout.ts';

/** The object store is asked for a binary at most so often, unless something has changed. */
const EVERY_MICROS = 10_000_000;

interface Parts {
  clock: Clock;
  installs: Pick<Software['installs'], 'findCurrent' | 'hasBinary'>;
}

export type Obstacles = ReturnType<typeof createObstacles>;

/** Finds the reason for which no device can install the version of a rollout. */
export function createObstacles({ clock, installs }: Parts) {
  /** By rollout: the time at which the binary was seen. */
  const seenAt = new Map<string, Micros>();

  async function hasBinary(rolloutId: string, current: Parameters<typeof installs.hasBinary>[0]): Promise<boolean> {
    const now = clock.now();
    if (now - (seenAt.get(rolloutId) ?? 0) < EVERY_MICROS) return true;
    try {
      if (!(await installs.hasBinary(current))) return false;
    } catch (error) {
      // While the object store is away, commands wait for it; it is no reason to pause.
      if (!(error instanceof DomainError) || error.code !== 'OBJECT_STORE_UNAVAILABLE') throw error;
    }
    seenAt.set(rolloutId, now);
    return true;
  }

  return {
    /** The reason, as a code of the contract; undefined when there is none. */
    async of({ rolloutId, operation, plan }: Rollout, asked: unknown): Promise<string | undefined> {
      if (!isInstall(operation)) return undefined;
      const line = lineOf(operation);
      const current = await installs.findCurrent(line, asked as InstallName, plan.developerId);
      if (!current) return 'BINARY_DELETED';
      if (line === 'software' && current.distributionStartedAt === null) return 'DISTRIBUTION_STOPPED';
      return (await hasBinary(rolloutId, current)) ? undefined : 'BINARY_DELETED';
    },

    /** Call this when a rollout has ended. */
    forget: (rolloutId: string): unknown => seenAt.delete(rolloutId),

    /** Call this when a version may not be installed any more. */
    lookAgain: (): void => seenAt.clear(),
  };
}
