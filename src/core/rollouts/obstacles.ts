import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Clock } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import type { Software } from '../software/software.ts';
import type { InstallName } from '../transactions/installation.ts';
import { isInstall, lineOf } from '../transactions/operations.ts';
import { untilNextLook } from './look-interval.ts';
import type { Rollout } from './rollout.ts';

interface Parts {
  clock: Clock;
  installs: Pick<Software['installs'], 'findCurrent' | 'obstacle'>;
}

export type Obstacles = ReturnType<typeof createObstacles>;

/** Finds the reason for which no device can install the version of a rollout. */
export function createObstacles({ clock, installs }: Parts) {
  /** By rollout: the time at which the object store is asked again for the binary, and its signature judged. */
  const againAt = new Map<string, Micros>();

  async function ofFile(
    rolloutId: string,
    current: Parameters<typeof installs.obstacle>[0],
  ): Promise<string | undefined> {
    const now = clock.now();
    if (now < (againAt.get(rolloutId) ?? 0)) return undefined;
    try {
      const obstacle = await installs.obstacle(current);
      if (obstacle) return obstacle.code === 'BINARY_MISSING' ? 'BINARY_DELETED' : obstacle.code;
    } catch (error) {
      // While the object store is away, commands wait for it; it is no reason to pause.
      if (!(error instanceof DomainError) || error.code !== 'OBJECT_STORE_UNAVAILABLE') throw error;
    }
    againAt.set(rolloutId, now + untilNextLook() * 1000);
    return undefined;
  }

  return {
    /** The reason, as a code of the contract; undefined when there is none. */
    async of({ rolloutId, operation, plan }: Rollout, asked: unknown): Promise<string | undefined> {
      if (!isInstall(operation)) return undefined;
      const line = lineOf(operation);
      const current = await installs.findCurrent(line, asked as InstallName, plan.developerId);
      if (!current) return 'BINARY_DELETED';
      if (line === 'software' && current.distributionStartedAt === null) return 'DISTRIBUTION_STOPPED';
      return ofFile(rolloutId, current);
    },

    /** Call this when a rollout has ended. */
    forget: (rolloutId: string): unknown => againAt.delete(rolloutId),

    /** Call this when a version may not be installed any more. */
    lookAgain: (): void => againAt.clear(),
  };
}
