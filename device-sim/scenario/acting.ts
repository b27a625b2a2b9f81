import type { Timers } from '../timers.ts';
import type { Plan } from './plan.ts';

/** The largest number of calls in progress at once. */
const MOST_AT_ONCE = 256;
const SHORTEST_MILLISECONDS = 5;

/**
 * Carries out the planned actions at their times, whether or not the service keeps up. When too many calls are in
 * progress, an action waits; actions that still wait at the end are not carried out, and are counted. `act` resolves
 * when its call is answered; `due` is the time at which the action should have begun.
 */
export function startActing({
  plans,
  timers,
  isMine = () => true,
  act,
}: {
  plans: readonly Plan[];
  timers: Timers;
  /** Whether this process carries out the n-th action of a plan, or another process of the run does. */
  isMine?: (plan: Plan, n: number) => boolean;
  act: (plan: Plan, n: number, due: number) => Promise<void> | undefined;
}): {
  /** Whether all planned actions have begun. */
  done(): boolean;
  /**
   * Ends the actions. `left`: the number of actions that were due and did not begin. `answered` resolves when the calls
   * in progress are answered.
   */
  stop(): { left: number; answered: Promise<unknown> };
} {
  const began = timers.now();
  const begun = plans.map(() => 0);
  const underWay = new Set<Promise<void>>();
  let cancel: (() => void) | undefined;
  let over = false;

  /** The number of actions of a plan that should have begun by now. */
  function due({ total, dueAt }: Plan, elapsed: number): number {
    // An action without an end has one rate.
    if (!Number.isFinite(total)) return dueAt(1) === Number.POSITIVE_INFINITY ? 0 : Math.floor(elapsed / dueAt(1)) + 1;
    let [low, high] = [0, total];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (dueAt(middle) <= elapsed) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function begin(plan: Plan, n: number): void {
    if (!isMine(plan, n)) return;
    const made = act(plan, n, began + plan.dueAt(n));
    if (!made) return;
    underWay.add(made);
    void made.finally(() => underWay.delete(made));
  }

  function catchUp(): void {
    if (over) return;
    const elapsed = timers.now() - began;
    plans.forEach((plan, at) => {
      for (const wanted = due(plan, elapsed); begun[at]! < wanted && underWay.size < MOST_AT_ONCE; begun[at]! += 1)
        begin(plan, begun[at]!);
    });
    if (!done()) cancel = timers.after(nextIn(elapsed), catchUp);
  }

  function nextIn(elapsed: number): number {
    const next = Math.min(...plans.map((plan, at) => (begun[at]! < plan.total ? plan.dueAt(begun[at]!) : Infinity)));
    return Math.max(SHORTEST_MILLISECONDS, next - elapsed);
  }

  const done = (): boolean => plans.every(({ total }, at) => begun[at]! >= total);

  if (plans.length > 0) catchUp();
  return {
    done,
    stop() {
      over = true;
      cancel?.();
      const elapsed = timers.now() - began;
      let left = 0;
      plans.forEach((plan, at) => {
        for (let n = begun[at]!; n < due(plan, elapsed); n += 1) if (isMine(plan, n)) left += 1;
      });
      return { left, answered: Promise.all(underWay) };
    },
  };
}
