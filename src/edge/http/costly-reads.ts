import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Asking } from '../../runtime/current-caller.ts';
import { createTurns } from '../../runtime/turns.ts';

/**
 * The costly reads of one application that run at a time, each until its answer was taken; and the number that may
 * wait.
 */
const COSTLY_READS = { atATime: 2, waiting: 64 };
/** The costly reads, of all applications, that begin in one turn of the event loop. */
const PER_TURN = 1;

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/** The caller of a read. */
interface Source {
  developerId: string;
  applicationId: string;
}

interface Parts {
  metrics: Pick<Metrics, 'httpRefused'>;
  asking: Pick<Asking, 'run'>;
}

/**
 * Bounds reads that may be long: lists of devices, transactions, deliveries. A read counts until its answer was taken,
 * so a client that does not read its answers uses up its own share only, and a bounded amount of memory. The reads of
 * all applications begin in turns of their developers. They run in the name of their application, so their database
 * queries take turns in the same way.
 */
export function createCostlyReads({ metrics, asking }: Parts) {
  const queues = new Map<string, Queue>();
  const turn = createTurns(PER_TURN);

  /** Waits for a free slot. Returns a function that frees the slot. Throws RATE_LIMITED when too many wait. */
  async function enter(applicationId: string): Promise<() => void> {
    const queue = queues.get(applicationId) ?? { running: 0, waiting: [] };
    queues.set(applicationId, queue);
    if (queue.running < COSTLY_READS.atATime) {
      queue.running += 1;
    } else if (queue.waiting.length < COSTLY_READS.waiting) {
      await new Promise<void>((resolve) => queue.waiting.push(resolve)); // takes over the slot of the read that ended
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
      if (queue.running === 0) queues.delete(applicationId);
    };
  }

  return {
    /**
     * Runs a read in its turn. `began` receives the function to call once the answer was taken. Throws RATE_LIMITED
     * when too many wait.
     */
    async read<Result>(
      { developerId, applicationId }: Source,
      began: (leave: () => void) => void,
      work: () => Result,
    ): Promise<Awaited<Result>> {
      began(await enter(applicationId));
      await turn([developerId, applicationId]);
      return await asking.run(developerId, applicationId, work);
    },
  };
}
