import { DomainError } from '../errors.ts';
import type { Metrics } from '../metrics.ts';

/** Costly reads of one source at a time, from the question to the end of the answer; so many more wait. */
const COSTLY_READS = { atATime: 2, waiting: 64 };

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/**
 * The bound of reads that may be long: lists of devices, transactions, deliveries. One that has begun counts until its
 * answer has been taken, so that a client that does not read uses up its own share, and no more memory than that.
 */
export function createCostlyReads({ metrics }: { metrics: Pick<Metrics, 'httpRefused'> }) {
  const queues = new Map<string, Queue>();

  return {
    /** A place; waits for one. What it answers gives the place back. Throws RATE_LIMITED when too many wait. */
    async enter(source: string): Promise<() => void> {
      const queue = queues.get(source) ?? { running: 0, waiting: [] };
      queues.set(source, queue);
      if (queue.running < COSTLY_READS.atATime) {
        queue.running += 1;
      } else if (queue.waiting.length < COSTLY_READS.waiting) {
        await new Promise<void>((resolve) => queue.waiting.push(resolve)); // takes over the place of the one that leaves
      } else {
        metrics.httpRefused.inc({ bound: 'costly_reads' });
        throw new DomainError('RATE_LIMITED', { values: { seconds: 1 } });
      }
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const next = queue.waiting.shift();
        if (next) setImmediate(next);
        else queue.running -= 1;
        if (queue.running === 0) queues.delete(source);
      };
    },
  };
}
