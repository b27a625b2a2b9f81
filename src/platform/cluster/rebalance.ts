import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { Nodes } from './nodes.ts';
import type { Ownership } from './ownership.ts';

const SECOND = 1_000;
/** Milliseconds without a node that came or went, before anything is evened out: others may still be on their way. */
const SETTLED = 30_000;
/** A node has too many from so many above the mean on: a tenth of it, and not less than a few. It stops at half of that. */
const SLACK_SHARE = 0.1;
const SLACK = 4;
/** Milliseconds in which a device has come to its new node, and that one has told how many it has. */
const UNDER_WAY = 10_000;
/** Devices that are remembered, so that none is handed over twice within the time below. */
const REMEMBERED = 50_000;
const ONCE_IN = 3_600_000;
/** When so many of those that were handed over last have come back to this node, the balancer does not lead them elsewhere. */
const LOOKED_AT = 20;
const CAME_BACK = 15;

interface Shares {
  own: number;
  /** Of each node that lives; null: it does not say. */
  all: readonly (number | null)[];
  /** Devices that were handed over, and may not be counted by another one yet. */
  onTheWay: number;
}

/** How many a node shall hand over. */
export function surplusOf({ own, all, onTheWay }: Shares, isUnderWay: boolean): number {
  if (all.length < 2 || all.includes(null)) return 0;
  const mean = all.reduce<number>((sum, count) => sum + (count ?? 0), onTheWay) / all.length;
  const slack = Math.max(SLACK, mean * SLACK_SHARE);
  if (!isUnderWay && own - mean <= slack) return 0;
  return Math.max(0, Math.floor(own - mean - slack / 2));
}

/** What is to be known and done of a device that is handed over. */
export interface HandOver {
  /** True while nothing is under way between it and this node. */
  isQuiet(deviceId: string): boolean;
  /** Before its connection, which had it under that epoch, ends. */
  prepare(deviceId: string, epoch: number): Promise<unknown>;
}

interface Parts {
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics, 'clusterHandedOver'>;
  nodes: Nodes;
  ownership: Pick<Ownership, 'size' | 'has' | 'deviceIds' | 'handOver'>;
  /** Devices a second; 0: never. */
  perSecond: number;
}

/**
 * Evens out the devices between nodes, slowly: who has more than the others closes some connections a second, of devices that
 * are silent in that moment; they connect again, and the balancer leads them to who has fewest. Nothing is lost by it: what was
 * under way comes again, as whenever a connection ends.
 */
export function createEvening({ clock, log, metrics, nodes, ownership, perSecond }: Parts) {
  let by: HandOver = { isQuiet: () => false, prepare: async () => undefined };
  let settledAt = clock.now() + SETTLED * 1_000;
  let isUnderWay = false;
  let cancel = (): void => undefined;
  /** When each was handed over, the earliest first. */
  const handed = new Map<string, number>();

  nodes.onChanged(() => {
    settledAt = clock.now() + SETTLED * 1_000;
  });

  function forget(now: number): void {
    for (const [deviceId, at] of handed) {
      if (handed.size <= REMEMBERED && now - at < ONCE_IN * 1_000) return;
      handed.delete(deviceId);
    }
  }

  function onTheWay(now: number): number {
    let count = 0;
    for (const at of [...handed.values()].reverse()) {
      if (now - at > UNDER_WAY * 1_000) break;
      count += 1;
    }
    return count;
  }

  /** The balancer leads them back to where they were. */
  function isInVain(): boolean {
    const last = [...handed.keys()].slice(-LOOKED_AT);
    return last.length === LOOKED_AT && last.filter(ownership.has).length >= CAME_BACK;
  }

  function look(): void {
    const now = clock.now();
    forget(now);
    const own = ownership.size();
    const all = nodes.live().map(({ nodeId, devices }) => (nodeId === nodes.id() ? own : devices));
    const surplus =
      now < settledAt || !nodes.mayAct() ? 0 : surplusOf({ own, all, onTheWay: onTheWay(now) }, isUnderWay);
    if (surplus === 0 || isInVain()) {
      if (isUnderWay) log.info({ devices: own }, 'no more devices are handed over');
      isUnderWay = false;
      return;
    }
    if (!isUnderWay) log.info({ devices: own, surplus }, 'devices are handed over to nodes that have fewer');
    isUnderWay = true;
    let left = Math.min(surplus, perSecond);
    for (const deviceId of ownership.deviceIds()) {
      if (left === 0) break;
      if (handed.has(deviceId) || !by.isQuiet(deviceId)) continue;
      handed.set(deviceId, now);
      void ownership.handOver(deviceId, by.prepare);
      metrics.clusterHandedOver.inc();
      left -= 1;
    }
  }

  function arm(): void {
    cancel = clock.after(SECOND, () => {
      look();
      arm();
    });
  }

  return {
    /** How it is done; before the start. */
    handOverBy(how: HandOver): void {
      by = how;
    },
    start(): void {
      if (perSecond > 0) arm();
    },
    [Symbol.asyncDispose]: async (): Promise<void> => cancel(),
  };
}
