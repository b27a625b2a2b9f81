import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Asking } from '../../runtime/current-caller.ts';
import { createTurns } from '../../runtime/turns.ts';

/** Costly reads of one application at a time, from the question to the end of the answer; so many more wait. */
const COSTLY_READS = { atATime: 2, waiting: 64 };
/** Of all of them so many begin in one turn of the event loop. */
const PER_TURN = 1;

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/** Whose a read is. */
interface Source {
  developerId: string;
  applicationId: string;
}

interface Parts {
  metrics: Pick<Metrics, 'httpRefused'>;
  asking: Pick<Asking, 'run'>;
}

/**
 * The bound of reads that may be long: lists of devices, transactions, deliveries. One that has begun counts until its
 * answer has been taken, so that a client that does not read uses up its own share, and no more memory than that. Those of
 * all applications begin in turns of their developers, and ask in their names: so do their questions.
 */
export function createCostlyReads({ metrics, asking }: Parts) {
  const queues = new Map<string, Queue>();
  const turn = createTurns(PER_TURN);

  /** A place; waits for one. What it answers gives the place back. Throws RATE_LIMITED when too many wait. */
  async function enter(applicationId: string): Promise<() => void> {
    const queue = queues.get(applicationId) ?? { running: 0, waiting: [] };
    queues.set(applicationId, queue);
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
      if (queue.running === 0) queues.delete(applicationId);
    };
  }

  return {
    /** Reads when it is its turn. `began` is given what says that the answer was taken. Throws RATE_LIMITED when too many wait. */
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
