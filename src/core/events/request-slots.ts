import type { Clock } from '../../runtime/clock.ts';
import { createCounts } from '../../runtime/counts.ts';

/** The developer and the application of a request, which count the slots that they hold. */
interface Holder {
  developerId: string;
  applicationId: string;
}

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** The number of slots of one application, and in total. */
  bounds: { application: number; service: number };
  /** Milliseconds that a request waits for a slot. */
  longestWaitMs: number;
}

interface Waiting extends Holder {
  settle(entered: boolean): void;
}

/**
 * Slots for requests to customers, whose servers may hang. An application has a bound of its own, and a developer may take
 * another slot only while more slots are free than the developer holds; so a developer without any always finds one, however
 * many requests of others hang. Waiting requests get the slots that become free, with developers taking turns, or give up.
 */
export function createRequestSlots({ clock, bounds, longestWaitMs }: Parts) {
  const byApplication = createCounts();
  const byDeveloper = createCounts();
  /** Waiting requests by developer, in the order of the developers' turns. */
  const waiting = new Map<string, Set<Waiting>>();
  let free = bounds.service;

  const fits = ({ developerId, applicationId }: Holder): boolean =>
    byApplication.of(applicationId) < bounds.application && byDeveloper.of(developerId) < free;

  function take({ developerId, applicationId }: Holder): void {
    free -= 1;
    byApplication.add(applicationId, 1);
    byDeveloper.add(developerId, 1);
  }

  function forget(one: Waiting): void {
    const ofDeveloper = waiting.get(one.developerId);
    ofDeveloper?.delete(one);
    if (ofDeveloper?.size === 0) waiting.delete(one.developerId);
  }

  /** Gives free slots to waiting requests: one to each developer in turn, while there are some. */
  function giveAway(): void {
    for (const [developerId, ofDeveloper] of waiting) {
      const next = ofDeveloper.values().find(fits);
      if (!next) continue;
      take(next);
      forget(next);
      // The developer moves behind all others. A Map's iteration also visits entries that are added during it, so this one
      // comes again.
      if (waiting.delete(developerId)) waiting.set(developerId, ofDeveloper);
      next.settle(true);
    }
  }

  return {
    /** Returns true when a slot is free at once; else a promise that resolves to whether a slot became free in time. */
    enter(holder: Holder): true | Promise<boolean> {
      if (fits(holder)) {
        take(holder);
        return true;
      }
      return new Promise((resolve) => {
        const one: Waiting = {
          ...holder,
          settle(entered) {
            cancel();
            resolve(entered);
          },
        };
        const cancel = clock.after(longestWaitMs, () => {
          forget(one);
          resolve(false);
        });
        const ofDeveloper = waiting.get(holder.developerId);
        if (ofDeveloper) ofDeveloper.add(one);
        else waiting.set(holder.developerId, new Set([one]));
      });
    },

    leave({ developerId, applicationId }: Holder): void {
      free += 1;
      byApplication.add(applicationId, -1);
      byDeveloper.add(developerId, -1);
      giveAway();
    },

    /** Ends all waiting requests without a slot. */
    end(): void {
      for (const ofDeveloper of waiting.values())
        for (const one of ofDeveloper) {
          forget(one);
          one.settle(false);
        }
    },
  };
}
