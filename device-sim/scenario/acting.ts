import type { Timers } from '../timers.ts';
import type { Plan } from './plan.ts';

/** Calls that are under way at once: a customer has so many hands. */
const MOST_AT_ONCE = 256;
const SHORTEST_MILLISECONDS = 5;

/**
 * Does what is planned, at its pace and whether or not the service keeps up. What finds no hand free waits for one; what is still waiting
 * at the end is not done, and counted. `act` resolves when its call is answered; `due` is the time at which it should have begun.
 */
export function startActing({
  plans,
  timers,
  isMine = () => true,
  act,
}: {
  plans: readonly Plan[];
  timers: Timers;
  /** Whether it is this process that does it. */
  isMine?: (plan: Plan, n: number) => boolean;
  act: (plan: Plan, n: number, due: number) => Promise<void> | undefined;
}): {
  /** Whether everything planned was done. */
  done(): boolean;
  /** No more is begun. `left`: how many were not done although they were due. `answered` resolves when the calls under way are. */
  stop(): { left: number; answered: Promise<unknown> };
} {
  const began = timers.now();
  const begun = plans.map(() => 0);
  const underWay = new Set<Promise<void>>();
  let cancel: (() => void) | undefined;
  let over = false;

  /** How many of a plan should have begun by now. */
  const due = ({ total, dueAt }: Plan, elapsed: number): number =>
    dueAt(1) === Number.POSITIVE_INFINITY ? 0 : Math.min(total, Math.floor(elapsed / dueAt(1)) + 1);

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
