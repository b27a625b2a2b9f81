import type { Metrics } from '../../metrics.ts';
import type { Database } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { createSlowLook, type SlowLook } from '../../runtime/slow-look.ts';
import type { AttemptParts } from './attempts.ts';
import type { ReceiverName } from './delivery.ts';
import type { DueDeliveries } from './due-deliveries.ts';
import { holds, type Receiver } from './receiver.ts';

/** A delivery is only suspected when it is due for longer than this, in microseconds. */
const LATE_MICROS = 5_000_000;
/** On nodes, the milliseconds between two pieces: the search that finds their receivers runs every few seconds. */
const NODES_PIECE_MS = 10_000;

interface Parts {
  database: Database;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  endpointOf: AttemptParts['endpointOf'];
  rows: Pick<DueDeliveries, 'findDue' | 'findNextReceiver'>;
  /** The receiver in memory, if it is there. */
  known(name: ReceiverName): Receiver | undefined;
  /** The receivers with pending deliveries that the regular search on nodes has found last. */
  searched(): readonly ReceiverName[];
  /** Whether this node sends the webhooks of a receiver now. */
  sends(name: ReceiverName): boolean;
  /** Makes the due deliveries of a receiver be read. */
  due(name: ReceiverName): void;
}

/** Whether the due deliveries of a receiver are read without anybody's help. */
const isMoved = ({ more, reading, queue, nextDueAt }: Receiver, now: number): boolean =>
  more || reading || queue.length > 0 || nextDueAt <= now;

/**
 * Looks slowly for receivers with due deliveries that nobody sends. Several nodes search for them anyway, because the
 * announcement by another node may be lost (`takeUp`); there this looks at what the search has found and not moved.
 */
export function createOverlooked(parts: Parts): SlowLook {
  const { database, clock, log, metrics, endpointOf, rows, known, searched, sends, due } = parts;
  async function* withPending(): AsyncGenerator<ReceiverName> {
    if (database.shared) {
      yield* searched();
      return;
    }
    let found = await rows.findNextReceiver(database.read, { applicationId: '', setting: '' });
    while (found) {
      yield found;
      found = await rows.findNextReceiver(database.read, found);
    }
  }

  async function overlooked(name: ReceiverName): Promise<string | undefined> {
    if (!sends(name)) return undefined;
    const now = clock.now();
    const receiver = known(name);
    if (receiver && isMoved(receiver, now)) return undefined;
    const held = new Map(receiver?.held); // the outcomes of some may be stored during the read
    const page = await rows.findDue(database.read, name, now - LATE_MICROS, held.size + 1);
    const found = page.find((one) => !holds({ held }, one) && !(receiver && holds(receiver, one)));
    // The deliveries of an application that is being removed are removed, and not sent.
    if (!found || (await endpointOf(name.applicationId, name.setting)).leaves) return undefined;
    return found.deliveryId;
  }

  return createSlowLook<ReceiverName>({
    clock,
    log,
    what: 'webhooks',
    keys: withPending,
    overlooked,
    move: due,
    count: () => metrics.overlooked.inc({ what: 'webhooks' }),
    ...(database.shared && { pieceMs: NODES_PIECE_MS }),
  });
}
