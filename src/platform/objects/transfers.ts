import type { Clock } from '../../runtime/clock.ts';
import { S3Error } from './s3-error.ts';

export interface Transfer {
  /** So many bytes went over the wire. */
  moved(bytes: number): void;
  end(): void;
}

interface Running {
  owner: string;
  key: string;
  cut(): void;
  /** Bytes since `since` (microseconds). */
  bytes: number;
  since: number;
}

interface TransferLimits {
  /** At a time, over all. */
  total: number;
  /** Of one object. */
  perKey: number;
}

interface Parts {
  clock: Clock;
  limits: TransferLimits;
  /** A transfer was cut, or refused when there was none to cut. */
  refused(why: 'slow' | 'share' | 'key' | 'total'): void;
}

// A transfer moves so many bytes per second, measured over so many milliseconds, or it is cut. A download tells of its bytes
// when a whole block of 128 KiB has left.
const SLOWEST = 1024;
const MEASURED_OVER = 120_000;
const SLOW_DOWN = { headers: { 'Retry-After': '2' } };

/**
 * The places for transfers of one kind. Who has few of them always gets one: when all are taken, the slowest transfer of
 * whoever has most is cut for it. So no tenant can keep the others out, and one that is alone may use all. A client goes on
 * where it was cut (a download by a range), or begins anew.
 */
export function createTransfers({ clock, limits, refused }: Parts) {
  const running = new Set<Running>();
  const owners = new Map<string, Set<Running>>();
  let cancelLook: (() => void) | undefined;

  const rate = ({ bytes, since }: Running): number => bytes / Math.max(1, clock.now() - since);
  const slowest = (among: Iterable<Running>): Running | undefined => {
    let found: Running | undefined;
    for (const each of among) if (!found || rate(each) < rate(found)) found = each;
    return found;
  };

  function cut(transfer: Running, why: 'slow' | 'share' | 'key'): void {
    refused(why);
    remove(transfer); // its place is free now, whenever its connection ends
    transfer.cut();
  }

  function remove(transfer: Running): void {
    running.delete(transfer);
    const own = owners.get(transfer.owner);
    own?.delete(transfer);
    if (own?.size === 0) owners.delete(transfer.owner);
  }

  /** Of whoever has most places, and at least two more than the one who asks. */
  function toMakeRoom(owner: string): Running | undefined {
    let most: Set<Running> | undefined;
    for (const own of owners.values()) if (!most || own.size > most.size) most = own;
    const mine = owners.get(owner)?.size ?? 0;
    return most && most.size > mine + 1 ? slowest(most) : undefined;
  }

  function look(): void {
    cancelLook = undefined;
    const now = clock.now();
    for (const transfer of running) {
      if (now - transfer.since < MEASURED_OVER * 1000) continue;
      if (rate(transfer) * 1_000_000 < SLOWEST) cut(transfer, 'slow');
      else Object.assign(transfer, { bytes: 0, since: now });
    }
    arm();
  }
  function arm(): void {
    if (running.size > 0) cancelLook ??= clock.after(MEASURED_OVER / 3, look);
  }

  return {
    /**
     * A place for a transfer; `cutOff` ends it when it is too slow, or when its place is needed. Throws SlowDown when all
     * places are taken by others who have no more than the owner.
     */
    admit(owner: string, key: string, cutOff: () => void): Transfer {
      const own = owners.get(owner);
      const sameKey = own ? [...own].filter((each) => each.key === key) : [];
      const slow = sameKey.length >= limits.perKey ? slowest(sameKey) : undefined;
      if (slow) cut(slow, 'key');
      if (running.size >= limits.total) {
        const other = toMakeRoom(owner);
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
          cancelLook?.();
          cancelLook = undefined;
        },
      };
    },
  };
}

export type Transfers = ReturnType<typeof createTransfers>;
