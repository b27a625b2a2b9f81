import type { Clock } from '../../runtime/clock.ts';

/** Whose request takes a place. */
interface Holder {
  developerId: string;
  applicationId: string;
}

interface Parts {
  clock: Pick<Clock, 'after'>;
  /** Places of one application, and in all. */
  bounds: { application: number; service: number };
  /** Milliseconds that a request waits for a place. */
  patience: number;
}

interface Waiting extends Holder {
  settle(entered: boolean): void;
}

/**
 * Places for requests to customers, who may hang. An application has a bound of its own, and a developer may take another
 * place only while more places are free than it has: however many of them hang, there is a place for who has none. Who waits
 * gets the next place that is free, by turns of developers, or gives up after some time.
 */
export function createPlaces({ clock, bounds, patience }: Parts) {
  const byApplication = new Map<string, number>();
  const byDeveloper = new Map<string, number>();
  /** By developer, in the order of their turns. */
  const waiting = new Map<string, Set<Waiting>>();
  let free = bounds.service;

  const countOf = (counts: Map<string, number>, key: string): number => counts.get(key) ?? 0;
  const change = (counts: Map<string, number>, key: string, by: 1 | -1): void => {
    const count = countOf(counts, key) + by;
    if (count > 0) counts.set(key, count);
    else counts.delete(key);
  };

  const fits = ({ developerId, applicationId }: Holder): boolean =>
    countOf(byApplication, applicationId) < bounds.application && countOf(byDeveloper, developerId) < free;

  function take({ developerId, applicationId }: Holder): void {
    free -= 1;
    change(byApplication, applicationId, 1);
    change(byDeveloper, developerId, 1);
  }

  function forget(one: Waiting): void {
    const ofDeveloper = waiting.get(one.developerId);
    ofDeveloper?.delete(one);
    if (ofDeveloper?.size === 0) waiting.delete(one.developerId);
  }

  /** Gives free places away: one to each developer in turn, as long as there are some. */
  function giveAway(): void {
    for (const [developerId, ofDeveloper] of waiting) {
      const next = ofDeveloper.values().find(fits);
      if (!next) continue;
      take(next);
      forget(next);
      // Its next turn comes behind those of all others: what is added to a Map while one goes through it is visited, too.
      if (waiting.delete(developerId)) waiting.set(developerId, ofDeveloper);
      next.settle(true);
    }
  }

  return {
    /** True when the place is taken at once; else resolves to whether it was in time. */
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
        const cancel = clock.after(patience, () => {
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
      change(byApplication, applicationId, -1);
      change(byDeveloper, developerId, -1);
      giveAway();
    },

    /** Who waits gets none. */
    end(): void {
      for (const ofDeveloper of waiting.values())
        for (const one of ofDeveloper) {
          forget(one);
          one.settle(false);
        }
    },
  };
}
