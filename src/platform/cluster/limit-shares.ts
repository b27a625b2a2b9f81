import type { Clock } from '../../runtime/clock.ts';
import type { LimitShare } from '../../runtime/token-buckets.ts';
import type { Bus } from './bus.ts';
import type { Nodes } from './nodes.ts';

/** Owners of which one tells what they used since it told last; those that used most. */
const MOST_TOLD = 500;
/** Milliseconds for which another node is believed; it tells at each renewal of its lease. */
const BELIEVED_FOR = 3_000;

interface Parts {
  clock: Clock;
  nodes: Pick<Nodes, 'id' | 'live' | 'count' | 'atBeat' | 'onChanged'>;
  bus: Pick<Bus, 'broadcast' | 'on'>;
}

interface Heard {
  at: number;
  /** By limit and owner: a second, and when it was told. */
  uses: Map<string, { perSecond: number; at: number }>;
}

const keyOf = (limit: string, owner: string): string => `${limit} ${owner}`;

/**
 * How nodes share a limit: by what each lets through. They tell one another with each renewal of their leases, and what the
 * others do not use is for who does; a node of which nothing is heard counts as if it used its equal part, which is also
 * what each node may give out in any case. So nobody waits for an answer, and what is above the limit while they learn of
 * one another is bounded by a second or two of it.
 */
export function createShares({ clock, nodes, bus }: Parts) {
  let taken = new Map<string, number>();
  let toldAt = clock.now();
  const others = new Map<string, Heard>();

  function tell(): void {
    const now = clock.now();
    const seconds = (now - toldAt) / 1_000_000;
    const used = seconds > 0 ? [...taken].sort(([, a], [, b]) => b - a).slice(0, MOST_TOLD) : [];
    bus.broadcast({ kind: 'used', about: JSON.stringify([nodes.id()]) });
    for (const [key, count] of used)
      bus.broadcast({
        kind: 'used',
        about: JSON.stringify([nodes.id(), key, Math.round((100 * count) / seconds) / 100]),
      });
    if (seconds <= 0) return; // the clock stands still
    taken = new Map();
    toldAt = now;
  }

  function hear(about: string): void {
    const [nodeId, key, perSecond] = JSON.parse(about) as [string, string?, number?];
    const at = performance.now();
    const heard = others.get(nodeId) ?? { at, uses: new Map() };
    others.set(nodeId, heard);
    heard.at = at;
    if (key !== undefined && perSecond !== undefined) heard.uses.set(key, { perSecond, at });
    else for (const [known, use] of heard.uses) if (at - use.at > BELIEVED_FOR) heard.uses.delete(known);
  }

  bus.on('used', hear);
  nodes.atBeat(async () => tell());
  nodes.onChanged(() => {
    const live = new Set(nodes.live().map(({ nodeId }) => nodeId));
    for (const nodeId of others.keys()) if (!live.has(nodeId)) others.delete(nodeId);
  });

  /** A second, of what another node lets through. */
  function useOf(nodeId: string, key: string, equal: number): number {
    const now = performance.now();
    const heard = others.get(nodeId);
    if (!heard || now - heard.at > BELIEVED_FOR) return equal;
    const use = heard.uses.get(key);
    return use && now - use.at <= BELIEVED_FOR ? use.perSecond : 0;
  }

  return {
    /** A limit that all nodes have, under its name. */
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
