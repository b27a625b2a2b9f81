import type { Clock } from '../../runtime/clock.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { LogLimit } from '../../runtime/log-limit.ts';
import type { Audit } from '../audit/audit.ts';
import type { Batch, RefusalReason } from './enrolment.ts';

/** Refusals of one batch for one reason within this time share two entries of the audit log. */
const COUNTED_FOR_MS = 600_000;
/** The most requests of an entry that are named in it. */
const MOST_SAMPLES = 5;
/** The most batches and reasons that are counted at a time; further ones are counted together. */
const MOST_KEPT = 1_000;

interface Refused {
  reason: RefusalReason;
  batch: Batch | undefined;
  deviceId: string;
  address: string;
}

interface Count {
  reason: RefusalReason | 'various';
  batch: Batch | undefined;
  refused: number;
  samples: { deviceId: string; address: string }[];
}

interface Parts {
  clock: Clock;
  ids: Ids;
  log: Log;
  logLimit: LogLimit;
  audit: Pick<Audit, 'noted'>;
}

export type Refusals = ReturnType<typeof createRefusals>;

/**
 * Counts refused requests for the audit log. The first refusal of a batch for a reason is written at once; all further ones
 * of the next ten minutes are written as one number with samples. So the number of entries does not grow with the number
 * of requests, which anybody may send.
 */
export function createRefusals({ clock, ids, log, logLimit, audit }: Parts) {
  const counts = new Map<string, Count>();
  const work = createWork();
  let cancel: (() => void) | undefined;

  function write({ reason, batch, refused, samples }: Count): void {
    work.begun();
    void audit
      .noted({
        action: 'REFUSE /v1/enrolments',
        resource: batch ? `/admin/v1/enrolment-batches/${batch.batchId}` : '/v1/enrolments',
        id: ids.uuid(),
        details: { reason, refused, samples, ...(batch && { batchId: batch.batchId, batch: batch.name }) },
        about: batch ? [{ kind: 'developer', id: batch.developerId }] : [],
      })
      .finally(work.ended);
  }

  /** Writes what was counted since the last time. */
  function flush(): void {
    cancel?.();
    cancel = undefined;
    for (const count of counts.values()) if (count.refused > 0) write(count);
    counts.clear();
  }

  return {
    count({ reason, batch, deviceId, address }: Refused): void {
      const key = `${batch?.batchId ?? ''} ${reason}`;
      const leftOut = logLimit(`enrolment ${key}`);
      if (leftOut !== undefined)
        log.info({ reason, batchId: batch?.batchId, deviceId, address, leftOut }, 'an enrolment was refused');
      const isFull = counts.size >= MOST_KEPT && !counts.has(key);
      const known = counts.get(isFull ? '' : key);
      const sample = { deviceId, address };
      cancel ??= clock.after(COUNTED_FOR_MS, flush);
      if (known) {
        known.refused += 1;
        if (known.samples.length < MOST_SAMPLES) known.samples.push(sample);
        return;
      }
      const of = isFull ? ({ reason: 'various', batch: undefined } as const) : { reason, batch };
      write({ ...of, refused: 1, samples: [sample] });
      counts.set(isFull ? '' : key, { ...of, refused: 0, samples: [] });
    },

    idle: work.idle,

    /** Writes the last counts. */
    async [Symbol.asyncDispose](): Promise<void> {
      flush();
      await work.idle();
    },
  };
}
