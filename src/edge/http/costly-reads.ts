import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Asking } from '../../runtime/current-caller.ts';
import { createTurns } from '../../runtime/turns.ts';

/** The most costly reads of one application that run at a time, and that wait for one of those to end. */
const COSTLY_READS = { atATime: 2, waiting: 64 };
/** The costly reads of all applications that begin in one turn of the event loop. */
const PER_TURN = 1;

interface Queue {
  running: number;
  waiting: (() => void)[];
}

/** The application that a read runs for, and its developer. */
interface Source {
  developerId: string;
  applicationId: string;
}

interface Parts {
  metrics: Pick<Metrics, 'httpRefused'>;
  asking: Pick<Asking, 'run'>;
}

/**
 * Bounds reads that may take long: lists of devices, transactions, deliveries. A read ends only when its client has
 * read the answer. So a client that does not read delays only reads of its own application, and uses a bounded amount
 * of memory. Reads begin in turn by developer, then by application. Each runs in the name of its application, so its
 * database queries take turns in the same way.
 */
export function createCostlyReads({ metrics, asking }: Parts) {
  const queues = new Map<string, Queue>();
  const turn = createTurns(PER_TURN);

  /**
   * Waits until another read of the application may run. Returns a function to call at the end of the read. Throws
   * RATE_LIMITED when too many reads wait.
   */
  async function enter(applicationId: string): Promise<() => void> {
    const queue = queues.get(applicationId) ?? { running: 0, waiting: [] };
    queues.set(applicationId, queue);
    if (queue.running < COSTLY_READS.atATime) {
      queue.running += 1;
    } else if (queue.waiting.length < COSTLY_READS.waiting) {
      // An ending read wakes this one instead of reducing `running`.
      await new Promise<void>((resolve) => queue.waiting.push(resolve));
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
     * Runs a read when it is its turn, and then calls `began` with a function. The caller calls that function when the
     * client has read the answer; until then the read keeps its turn. Throws RATE_LIMITED when too many reads of the
     * application wait.
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
