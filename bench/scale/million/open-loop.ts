/** The figures of one part of the load. */
export interface Counted {
  /** Calls that were due. */
  due: number;
  done: number;
  failed: number;
  /** Milliseconds of the calls that were done; of many calls, those of a random part. */
  times: number[];
}

const TICK_MS = 10;
/** The most times that are kept. */
const KEPT = 20_000;

const noneYet = (): Counted => ({ due: 0, done: 0, failed: 0, times: [] });

function isDone(counted: Counted, milliseconds: number): void {
  counted.done += 1;
  if (counted.times.length < KEPT) counted.times.push(milliseconds);
  else if (Math.random() < KEPT / counted.done) counted.times[Math.floor(Math.random() * KEPT)] = milliseconds;
}

/** The sum of the figures of several nodes or processes. */
export function sumOf(all: readonly Counted[]): Counted {
  const total = noneYet();
  for (const { due, done, failed, times } of all) {
    total.due += due;
    total.done += done;
    total.failed += failed;
    for (const time of times) total.times.push(time);
  }
  return total;
}

/**
 * Makes calls at a rate, whether earlier ones have ended or not. While `most` calls are open, further ones are not begun: they
 * are due, and not done. Resolves after the time, when all open calls have ended.
 */
export async function runOpenLoop(
  call: () => Promise<unknown> | undefined,
  { perSecond, seconds, most = 3_000 }: { perSecond: number; seconds: number; most?: number },
): Promise<Counted> {
  const counted = noneYet();
  let open = 0;
  const rested = Promise.withResolvers<void>();
  const began = performance.now();
  let isOver = false;

  function begin(): void {
    if (open >= most) return;
    const at = performance.now();
    const ended = call();
    if (!ended) {
      counted.done += 1;
      return;
    }
    open += 1;
    ended
      .then(
        () => {
          isDone(counted, performance.now() - at);
        },
        () => {
          counted.failed += 1;
        },
      )
      .finally(() => {
        open -= 1;
        if (isOver && open === 0) rested.resolve();
      });
  }

  const timer = setInterval(() => {
    const passed = Math.min((performance.now() - began) / 1000, seconds);
    for (const due = Math.floor(passed * perSecond); counted.due < due; counted.due += 1) begin();
    if (passed < seconds) return;
    clearInterval(timer);
    isOver = true;
    if (open === 0) rested.resolve();
  }, TICK_MS);
  await rested.promise;
  return counted;
}

/** Makes a call for each item, `atOnce` of them at a time, until all are made or the time is over. */
export async function runClosed<Item>(
  items: Iterable<Item>,
  call: (item: Item) => Promise<unknown>,
  { atOnce, seconds }: { atOnce: number; seconds: number },
): Promise<Counted> {
  const counted = noneYet();
  const end = performance.now() + seconds * 1000;
  const left = items[Symbol.iterator]();
  const one = async (): Promise<void> => {
    for (let next = left.next(); !next.done && performance.now() < end; next = left.next()) {
      const at = performance.now();
      counted.due += 1;
      try {
        await call(next.value);
        isDone(counted, performance.now() - at);
      } catch {
        counted.failed += 1;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return counted;
}
