import type { Clock } from '../../runtime/clock.ts';
import type { LimitShare } from '../../runtime/token-buckets.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';

/**
 * The most owners (users of a limit) that a node reports at a time: those that have used most since its last report.
 */
const MOST_TOLD = 500;
/**
 * Milliseconds for which the report of another node counts. Each node sends a new report at each renewal of its lease.
 */
const BELIEVED_FOR_MS = 3_000;

interface Parts {
  clock: Clock;
  nodes: Pick<Nodes, 'id' | 'live' | 'count' | 'atBeat' | 'onChanged'>;
  bus: Pick<Bus, 'on'>;
}

interface Heard {
  at: number;
  /** The last report that was read in its row; null before the first one. */
  text: string | null;
  report: [key: string, perSecond: number][];
  /** By limit and owner: how much the node lets through a second, and when it reported that. */
  uses: Map<string, { perSecond: number; at: number }>;
}

const keyOf = (limit: string, owner: string): string => `${limit} ${owner}`;

/**
 * Shares each limit between the nodes. With each renewal of its lease a node reports how much it lets through for each
 * owner, and an owner may use on one node what it does not use on the others. The report is a part of the node's row, which
 * all nodes read anyway. A node without a recent report counts as if it used its equal part, and each node may always give
 * out its own equal part. So no request waits for another node; until the reports arrive, the excess over the limit is at
 * most one or two seconds' worth.
 */
export function createShares({ clock, nodes, bus }: Parts) {
  let taken = new Map<string, number>();
  let toldAt = clock.now();
  let told = '{}';
  const others = new Map<string, Heard>();

  function heardOf(nodeId: string): Heard {
    const heard = others.get(nodeId) ?? { at: 0, text: null, report: [], uses: new Map() };
    others.set(nodeId, heard);
    heard.at = performance.now();
    return heard;
  }

  function dropOld({ at, uses }: Heard): void {
    for (const [known, use] of uses) if (at - use.at > BELIEVED_FOR_MS) uses.delete(known);
  }

  /** Reads the reports in the rows of the other nodes. */
  function readReports(): void {
    for (const { nodeId, used } of nodes.live()) {
      if (used === null || nodeId === nodes.id()) continue;
      const heard = heardOf(nodeId);
      dropOld(heard);
      if (used !== heard.text) {
        heard.text = used;
        heard.report = Object.entries(JSON.parse(used) as Record<string, number>);
      }
      for (const [key, perSecond] of heard.report) heard.uses.set(key, { perSecond, at: heard.at });
    }
  }

  /** Hears the hint of a node of the former release, which has no report in its row. */
  function hear(about: string): void {
    const [nodeId, key, perSecond] = JSON.parse(about) as [string, string?, number?];
    const heard = heardOf(nodeId);
    if (key !== undefined && perSecond !== undefined) heard.uses.set(key, { perSecond, at: heard.at });
    else dropOld(heard);
  }

  bus.on('used', hear);
  nodes.atBeat(async () => readReports());
  nodes.onChanged(() => {
    const live = new Set(nodes.live().map(({ nodeId }) => nodeId));
    for (const nodeId of others.keys()) if (!live.has(nodeId)) others.delete(nodeId);
  });

  /** How much of a limit another node lets through a second for one owner, by its last report. */
  function useOf(nodeId: string, key: string, equal: number): number {
    const now = performance.now();
    const heard = others.get(nodeId);
    if (!heard || now - heard.at > BELIEVED_FOR_MS) return equal;
    const use = heard.uses.get(key);
    return use && now - use.at <= BELIEVED_FOR_MS ? use.perSecond : 0;
  }

  return {
    /** How much this node has let through of each limit since the last report, as its row has it. */
    report(): string {
      const now = clock.now();
      const seconds = (now - toldAt) / 1_000_000;
      if (seconds <= 0) return told; // no time has passed since the last report, so there is no rate
      const used = [...taken].sort(([, a], [, b]) => b - a).slice(0, MOST_TOLD);
      taken = new Map();
      toldAt = now;
      told = JSON.stringify(
        Object.fromEntries(used.map(([key, count]) => [key, Math.round((100 * count) / seconds) / 100])),
      );
      return told;
    },

    /** How much of the limit with this name this node may give out. */
    of: (limit: string, perSecond: number): LimitShare => ({
      nodes: nodes.count,
      perSecond(owner: string): number {
        const equal = perSecond / nodes.count();
        const own = nodes.id();
        const key = keyOf(limit, owner);
        let left = perSecond;
        for (const { nodeId } of nodes.live()) if (nodeId !== own) left -= useOf(nodeId, key, equal);
        return Math.max(equal, left);
      },
      took(owner: string, cost: number): void {
        const key = keyOf(limit, owner);
        taken.set(key, (taken.get(key) ?? 0) + cost);
      },
    }),
  };
}
