import type { Clock } from '../../runtime/clock.ts';
import { createCounts } from '../../runtime/counts.ts';

/** The developer and the application that a request is counted for. */
interface Holder {
  developerId: string;
  applicationId: string;
}

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** The most requests in progress: of one application, and in total. */
  bounds: { application: number; service: number };
  /** Milliseconds that a request waits for a slot. */
  longestWaitMs: number;
}

interface Waiting extends Holder {
  settle(entered: boolean): void;
}

/**
 * Limits the requests in progress to customers' servers, which may hang. A request in progress takes a slot. An
 * application has a bound of its own. A developer may take another slot only while more slots are free than the
 * developer has taken; so a developer without a request in progress always finds a slot, however many requests of
 * others hang. Other requests wait: developers take turns at the slots that become free, and a request gives up after
 * `longestWaitMs`.
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
      // The developer moves behind all others. The loop also visits entries that are added to the Map during it, so it
      // reaches this developer again after all others.
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

    /** Ends the waiting of all requests; none of them gets a slot. */
    end(): void {
      for (const ofDeveloper of waiting.values())
        for (const one of ofDeveloper) {
          forget(one);
          one.settle(false);
        }
    },
  };
}
