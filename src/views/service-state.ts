import { isDatabaseAway } from '@lapel/schemas/contracts/errors';
import { firstEnd } from '../core/authorities/authority-repository.ts';
import { findWayIn } from '../core/people/person-repository.ts';
import type { KnownNode } from '../platform/cluster/node-rows.ts';
import type { Database } from '../platform/database/sql.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Remembered } from '../runtime/remembered.ts';
import type { Micros } from '../runtime/units.ts';
import { alarmsOf, missingNodes, type WatchedNode } from './conditions/conditions.ts';
import type { Alarm } from './conditions/kinds.ts';
import type { FleetNow, Usual } from './conditions/of-fleet.ts';
import { type Verdict, verdictOf } from './conditions/verdict.ts';
import { type DiskPoint, fullAt } from './disk-trend.ts';
import type { Figures } from './figures.ts';
import type { FailingPart, NodeState } from './node-state.ts';
import { listDisks, listStates } from './service-history-repository.ts';

const MINUTE = 60_000_000;
/** Microseconds: a state that is older is not that of a node that lives. */
const FRESH = 15 * MINUTE;
/** Microseconds that the trend of a disk is computed from. */
const TREND = 7 * 24 * 60 * MINUTE;

interface Parts {
  database: Pick<Database, 'aside'>;
  clock: Clock;
  remembered: Remembered;
  /** The name of this node; empty without a cluster. */
  nodeId(): string;
  known(): Promise<KnownNode[]>;
  /** Looks up the state of this node, without its failing parts. */
  state(): Promise<NodeState>;
  /** The number of devices that are connected to this node. */
  connectedHere(): number;
  startedAt: Micros;
  figures(): Promise<Figures>;
  usual(): Promise<Usual>;
  stoppedRollouts(): Promise<number>;
}

/** A node with its disk over the last days. */
export interface NodeView {
  nodeId: string | null;
  isSelf: boolean;
  isMissing: boolean;
  version: string;
  startedAt: Micros;
  devices: number | null;
  /** Null for a process that is alone. */
  leaseSeconds: number | null;
  /** Null when the node has not said it within the last minutes. */
  state: NodeState | null;
  disk: DiskPoint[];
  fullAt: Micros | null;
}

/** Microseconds after its start in which a node need not have told its state. */
const NEW = 2 * MINUTE;
/** Microseconds after its start in which a node cannot tell that something is over: most conditions must last first. */
const SETTLING = 16 * MINUTE;

/** A node of an earlier version has stored no signs, or no failing parts. */
function whole(state: NodeState | undefined): NodeState | null {
  if (!state) return null;
  const { signs = [], parts = [] } = state as Partial<NodeState>;
  return { ...state, signs, parts };
}

export type ServiceState = ReturnType<typeof createServiceState>;

/** The nodes of the service with their disks and certificates, and their faults that somebody must mend. */
export function createServiceState(parts: Parts) {
  const { database, clock, remembered, nodeId, known, state } = parts;

  async function look(): Promise<{ now: Micros; nodes: NodeView[]; known: KnownNode[] }> {
    const asked = clock.now();
    const [own, { rows, now }, states, disks] = await Promise.all([
      state(),
      // The clocks are compared at the answer: the question may have waited, which must not look like a wrong clock.
      known().then((answer) => ({ rows: answer, now: clock.now() })),
      listStates(database.aside, asked - FRESH),
      listDisks(database.aside, asked - TREND),
    ]);
    const missing = new Set(missingNodes(rows).map((node) => node.nodeId));
    const shown = rows.filter(({ leaseSeconds, nodeId: id }) => leaseSeconds > 0 || missing.has(id));
    const stateBy = new Map(states.map((row) => [row.nodeId, row.state]));
    const disksBy = Map.groupBy(disks, (row) => row.nodeId);
    const viewOf = (id: string): Pick<NodeView, 'nodeId' | 'isSelf' | 'state' | 'disk' | 'fullAt'> => {
      const isSelf = id === nodeId();
      const disk = (disksBy.get(id) ?? []).map(({ at, free }) => ({ at, free }));
      if (isSelf && own.disk) disk.push({ at: now, free: own.disk.free });
      return {
        nodeId: id || null,
        isSelf,
        state: isSelf ? own : whole(stateBy.get(id)),
        disk,
        fullAt: fullAt(disk),
      };
    };
    if (rows.length === 0) {
      const about = { version: own.version, startedAt: parts.startedAt, devices: parts.connectedHere() };
      return { now, known: rows, nodes: [{ ...viewOf(nodeId()), ...about, isMissing: false, leaseSeconds: null }] };
    }
    const nodes = shown.map(
      ({ nodeId: id, release, startedAt, devices, leaseSeconds }): NodeView => ({
        ...viewOf(id),
        isMissing: missing.has(id),
        version: release,
        startedAt,
        devices: missing.has(id) ? null : id === nodeId() ? parts.connectedHere() : devices,
        leaseSeconds,
      }),
    );
    return { now, known: rows, nodes };
  }

  const looked = () => remembered('nodes', look);

  async function lookAtFleet(ofNodes: ReturnType<typeof look>): Promise<FleetNow> {
    const [{ now, nodes }, figures, usual, stoppedRollouts] = await Promise.all([
      ofNodes,
      parts.figures(),
      parts.usual(),
      remembered('stopped rollouts', parts.stoppedRollouts),
    ]);
    // The devices of any node that has just started come back.
    const newest = Math.max(parts.startedAt, ...nodes.map(({ startedAt }) => startedAt));
    return { ...figures, usual, stoppedRollouts, startedSeconds: (now - newest) / 1_000_000 };
  }

  return {
    /** Lists the nodes that live, and those that are missing. */
    async nodes(): Promise<NodeView[]> {
      return (await looked()).nodes;
    },

    /**
     * Finds what must be mended, and judges the whole. `isWhole`: everything could be looked at, and no node has just
     * started, so that what is not found is over. `problems` and `notes` are those of this node's readiness; the other
     * nodes told theirs within the last minute.
     */
    async alarms(
      problems: readonly FailingPart[],
      notes: readonly FailingPart[],
    ): Promise<{ alarms: Alarm[]; verdict: Verdict; isWhole: boolean }> {
      const ofNodes = looked();
      const look = [ofNodes, lookAtFleet(ofNodes), findWayIn(database.aside), firstEnd(database.aside)] as const;
      const [found, fleet, wayIn, deviceCaEnd] = await Promise.all(look).catch((cause: unknown) => {
        if (!isDatabaseAway(cause)) throw cause;
        return [{ now: clock.now(), nodes: [], known: [] }, null, { token: true, until: null }, null] as const; // the problems say the rest
      });
      const { now, nodes, known: rows } = found;
      const watched = nodes.flatMap((node): WatchedNode[] =>
        node.state && !node.isMissing ? [{ nodeId: node.nodeId, state: node.state, fullAt: node.fullAt }] : [],
      );
      const alarms = alarmsOf({
        now,
        nodes: watched,
        known: rows,
        fleet,
        wayIn,
        deviceCaEnd,
        self: { nodeId: nodeId() || null, parts: [...problems, ...notes] },
      });
      const unknown = nodes.filter(({ isMissing, state: of, startedAt }) => !isMissing && !of && now - startedAt > NEW);
      const isWhole =
        fleet !== null &&
        nodes.every(
          ({ isMissing, state: of, startedAt }) =>
            of && !isMissing && of.databaseCheck !== 'checking' && now - startedAt > SETTLING,
        );
      return { alarms, verdict: verdictOf(alarms, fleet, unknown.length), isWhole };
    },
  };
}
