import type { Clock } from '../../runtime/clock.ts';
import { S3Error } from './s3-error.ts';

export interface Transfer {
  /** Notes bytes that were sent or received since the last call. */
  moved(bytes: number): void;
  end(): void;
}

interface Running {
  owner: string;
  key: string;
  cut(): void;
  /** The bytes that were sent or received since `since` (microseconds). */
  bytes: number;
  since: number;
}

interface TransferLimits {
  /** The most transfers at a time, over all owners. */
  total: number;
  /** The most transfers of one object at a time. */
  perKey: number;
}

interface Parts {
  clock: Clock;
  limits: TransferLimits;
  /** Called when a transfer was cut, or when a new one was refused because no running one may be cut for it. */
  refused(why: 'slow' | 'share' | 'key' | 'total'): void;
}

// A transfer that moves fewer bytes per second than this, measured over this many milliseconds, is cut. A download counts
// its bytes when a whole block of 128 KiB has left.
const SLOWEST_BYTES_PER_SECOND = 1024;
const MEASURED_OVER_MS = 120_000;
const SLOW_DOWN = { headers: { 'Retry-After': '2' } };

/**
 * Limits the transfers of one kind (uploads or downloads), and shares them fairly between owners. When no further
 * transfer is allowed, the owner with most transfers loses its slowest one to an owner that has at least two fewer. So
 * no tenant can keep the others out, and a tenant that is alone may use all. A client whose transfer was cut resumes it
 * (a download, by a range) or begins anew.
 */
export function createTransfers({ clock, limits, refused }: Parts) {
  const running = new Set<Running>();
  const owners = new Map<string, Set<Running>>();
  let cancelCheck: (() => void) | undefined;

  const rate = ({ bytes, since }: Running): number => bytes / Math.max(1, clock.now() - since);
  const slowest = (among: Iterable<Running>): Running | undefined => {
    let found: Running | undefined;
    for (const each of among) if (!found || rate(each) < rate(found)) found = each;
    return found;
  };

  function cut(transfer: Running, why: 'slow' | 'share' | 'key'): void {
    refused(why);
    remove(transfer); // others may begin now, even if this connection takes longer to end
    transfer.cut();
  }

  function remove(transfer: Running): void {
    running.delete(transfer);
    const own = owners.get(transfer.owner);
    own?.delete(transfer);
    if (own?.size === 0) owners.delete(transfer.owner);
  }

  /** The slowest transfer of the owner with most transfers, if it has at least two more of them than `owner`. */
  function transferToCut(owner: string): Running | undefined {
    let most: Set<Running> | undefined;
    for (const own of owners.values()) if (!most || own.size > most.size) most = own;
    const mine = owners.get(owner)?.size ?? 0;
    return most && most.size > mine + 1 ? slowest(most) : undefined;
  }

  function cutSlowTransfers(): void {
    cancelCheck = undefined;
    const now = clock.now();
    for (const transfer of running) {
      if (now - transfer.since < MEASURED_OVER_MS * 1000) continue;
      if (rate(transfer) * 1_000_000 < SLOWEST_BYTES_PER_SECOND) cut(transfer, 'slow');
      else Object.assign(transfer, { bytes: 0, since: now });
    }
    arm();
  }
  function arm(): void {
    if (running.size > 0) cancelCheck ??= clock.after(MEASURED_OVER_MS / 3, cutSlowTransfers);
  }

  return {
    /**
     * Admits a transfer. `cutOff` is called when the transfer is too slow, or when it has to end for a transfer of
     * another owner. Throws SlowDown when the most transfers are running and no owner has at least two more than this
     * one.
     */
    admit(owner: string, key: string, cutOff: () => void): Transfer {
      const own = owners.get(owner);
      const sameKey = own ? [...own].filter((each) => each.key === key) : [];
      const slow = sameKey.length >= limits.perKey ? slowest(sameKey) : undefined;
      if (slow) cut(slow, 'key');
      if (running.size >= limits.total) {
        const other = transferToCut(owner);
        if (!other) {
          refused('total');
          throw new S3Error('SlowDown', 'Please reduce your request rate.', SLOW_DOWN);
        }
        cut(other, 'share');
      }
      const transfer: Running = { owner, key, cut: cutOff, bytes: 0, since: clock.now() };
      running.add(transfer);
      owners.set(owner, (owners.get(owner) ?? new Set()).add(transfer));
      arm();
      return {
        moved(bytes) {
          transfer.bytes += bytes;
        },
        end() {
          remove(transfer);
          if (running.size > 0) return;
          cancelCheck?.();
          cancelCheck = undefined;
        },
      };
    },
  };
}

export type Transfers = ReturnType<typeof createTransfers>;
