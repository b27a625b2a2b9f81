import type { Metrics } from '../../metrics.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { OpenRaw, RawConnection } from '../database/postgres/raw-connection.ts';
import { differingSettings, requirePermitted } from './fingerprint.ts';
import { createLeaseTime, type Moment } from './lease-time.ts';
import {
  admitting,
  deleteDead,
  deleteNode,
  insertNode,
  type KeysOfNode,
  keysOf,
  liveNodes,
  type Node,
  renewLease,
} from './node-rows.ts';
import { createReconnectingConnection } from './reconnecting-connection.ts';

/** The times of a lease, in milliseconds. */
export interface Lease {
  /** Milliseconds from the end of one renewal to the next. */
  renewMs: number;
  validMs: number;
}

export const LEASE: Lease = { renewMs: 700, validMs: 3_000 };
/**
 * A node begins work only in this part of its lease. The rest is time to finish it before another node may begin the same
 * work.
 */
const USABLE_SHARE = 0.8;
/**
 * A node that stood still asks the database whether it still has its lease. It keeps its devices while it waits for the
 * answer, for this part of a lease at most, and after a pause of so many leases at most: after a minute others carry out the
 * wills of its devices.
 */
const GRACE_SHARE = 0.5;
const LONGEST_PAUSE_LEASES = 10;

export interface NodesParts {
  open: OpenRaw;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'clusterNodes'>;
  /** The columns of this node's row by which other nodes judge whether they can run beside it. */
  about: Pick<Node, 'release' | 'fingerprint' | 'lacking'>;
  lease?: Lease;
  /** The number of devices that are connected to this node. */
  devices?(): number;
  /** The encryption keys of this node, in the form of its row. */
  encryptionKeys?(): string;
  /** How much this node has let through of each limit since the last call, in the form of its row. */
  used?(): string;
  /** The wall clock in milliseconds; for tests. */
  wall?(): number;
}

type Listener = () => void;
/** A task that uses the connection of the lease after each renewal. */
type AtBeat = (connection: RawConnection) => Promise<void>;

export type Nodes = ReturnType<typeof createNodes>;

/**
 * The live nodes, by leases in the database.
 * - A node renews its lease on a connection of its own, one renewal at a time. It counts the time of the lease from the
 *   moment before the renewal was sent, so it believes in its lease no longer than the other nodes do.
 * - A lease that was not renewed for 80 % of its time is late: `mayAct` becomes false, and listeners are called. If the
 *   database then renews it, it had not ended, and nobody can have taken anything over: the node goes on under its name.
 * - A lease that has expired is never renewed: the node registers under a new name, so rows with its old name belong to
 *   a dead node.
 * - A node that gets no answer from the database is cut off. Only then its devices must go: until a device has logged in
 *   elsewhere it belongs to this node, and from then on the device's epoch refuses every write here.
 * - All times are real time, not the time of the injected clock, because they are about processes. Time has passed when
 *   either of two clocks says so, so a machine that was suspended does not believe in its old lease.
 */
export function createNodes({ open, ids, log, metrics, about, lease = LEASE, wall = Date.now, ...parts }: NodesParts) {
  const { renewMs, validMs } = lease;
  let nodeId = '';
  let live: readonly Node[] = [];
  let liveIds: ReadonlySet<string> = new Set();
  const time = createLeaseTime(validMs * USABLE_SHARE, wall);
  const mayAct = time.isUsable;
  let holds = false; // whether this node has a lease: true from a registration until it has ended, or may have ended
  let isLate = false; // whether the lease was not renewed in time, and the database has not said yet what became of it
  let timer: NodeJS.Timeout | undefined;
  let lostTimer: NodeJS.Timeout | undefined;
  let graceTimer: NodeJS.Timeout | undefined;
  let beating: Promise<void> | undefined;
  let wanted = false; // whether to renew once more, right after the renewal in progress
  let closed = false;
  const warned = new Set<string>();
  const atBeat: AtBeat[] = [];
  const listeners = {
    lost: [] as Listener[],
    cut: [] as Listener[],
    back: [] as ((formerId: string) => void)[],
    changed: [] as Listener[],
    gone: [] as Listener[],
  };
  const encryptionKeys = (): string => parts.encryptionKeys?.() ?? '-';
  const connection = createReconnectingConnection({
    open,
    name: 'lapel lease',
    boundMs: Math.ceil(validMs / 2),
    onOpen: beatNow,
  });

  function setLive(nodes: readonly Node[]): void {
    const before = new Map(live.map((node) => [node.nodeId, node]));
    live = nodes;
    liveIds = new Set(nodes.map((node) => node.nodeId));
    metrics.clusterNodes.set(nodes.length);
    const came = nodes.filter((node) => node.nodeId !== nodeId && !before.has(node.nodeId));
    const went = [...before.keys()].filter((id) => id !== nodeId && !liveIds.has(id));
    for (const node of came)
      log.info({ nodeId: node.nodeId, release: node.release, nodes: nodes.length }, 'a node came');
    for (const id of went) log.warn({ nodeId: id, nodes: nodes.length }, 'a node went');
    for (const node of came) warnOfDifference(node);
    if (came.length > 0 || went.length > 0) for (const listener of listeners.changed) listener();
    if (went.length > 0) for (const listener of listeners.gone) listener();
  }

  function warnOfDifference(node: Node): void {
    const settings = differingSettings(about.fingerprint, node.fingerprint);
    if (settings.length === 0 || warned.has(node.nodeId)) return;
    warned.add(node.nodeId);
    log.warn({ nodeId: node.nodeId, settings }, 'a node has other settings than this one');
  }

  /** Begins the lease anew at `at`, the moment before the renewal was sent. */
  function prolong(at: Moment): void {
    time.begin(at);
    awaitLateness(); // the answer may come after the lease has ended
    if (!isLate || !mayAct()) return;
    isLate = false;
    clearTimeout(graceTimer);
    log.warn({ nodeId }, 'the lease of this node was late, because the process stood still; the node goes on');
  }

  /** A timer can come a moment early, or much earlier when the clock of the machine was put back meanwhile. */
  function awaitLateness(): void {
    clearTimeout(lostTimer);
    lostTimer = setTimeout(() => (mayAct() ? awaitLateness() : beLate()), Math.max(0, time.leftMs())).unref();
  }

  function beLate(): void {
    if (closed || isLate || !holds) return;
    isLate = true;
    for (const listener of listeners.lost) listener();
    const pauseMs = validMs * USABLE_SHARE - time.leftMs();
    const graceMs = pauseMs < validMs * LONGEST_PAUSE_LEASES ? validMs * GRACE_SHARE : 0;
    // An answer that lies in the socket, after another pause, is read before the grace ends.
    graceTimer = setTimeout(() => setImmediate(beCutOff), graceMs).unref();
    beatNow();
  }

  function beCutOff(): void {
    if (closed || !isLate) return;
    isLate = false;
    endLease();
    log.error({ nodeId }, 'the lease of this node could not be renewed in time');
    for (const listener of listeners.cut) listener();
  }

  /** Gives the lease up: the node registers anew. */
  function endLease(): void {
    holds = false;
    time.end();
    clearTimeout(lostTimer);
  }

  /**
   * Registers this node under a new name. Throws SETTING_INVALID when its settings do not permit it beside the live nodes.
   */
  async function register(on: RawConnection): Promise<void> {
    const formerId = nodeId;
    const id = ids.next('node', Date.now() * 1000);
    let at = time.now();
    const nodes = await admitting(on, async () => {
      const others = (await liveNodes(on)).filter((node) => node.nodeId !== formerId);
      requirePermitted(about, others);
      at = time.now();
      await insertNode(on, { nodeId: id, encryptionKeys: encryptionKeys(), ...about }, validMs);
      await deleteDead(on);
      return liveNodes(on);
    });
    if (closed) return;
    nodeId = id;
    holds = true;
    isLate = false;
    clearTimeout(graceTimer);
    prolong(at);
    setLive(nodes);
    if (formerId !== '') {
      log.warn({ nodeId, formerId }, 'this node has a lease again, under a new name');
      for (const listener of listeners.back) listener(formerId);
    }
  }

  async function beatOnce(): Promise<void> {
    const on = connection.current();
    if (!on) return; // a renewal follows when the connection is open
    const at = time.now();
    if (holds) {
      const row = {
        nodeId,
        devices: parts.devices?.() ?? null,
        encryptionKeys: encryptionKeys(),
        used: parts.used?.() ?? null,
      };
      const nodes = await renewLease(on, row, { validMs, known: live });
      if (nodes.some((node) => node.nodeId === nodeId)) {
        if (holds) prolong(at); // if the node was cut off meanwhile, it registers anew below
        setLive(nodes);
      } else {
        beLate(); // it is cut off unless it can register soon
        endLease();
      }
    }
    if (!holds && !closed) await register(on);
    if (mayAct()) for (const task of atBeat) await task(on);
  }

  function beatNow(): void {
    if (closed || nodeId === '') return; // start() registers the node first
    clearTimeout(timer);
    if (beating) {
      wanted = true;
      return;
    }
    beating = beatOnce()
      .catch((err: unknown) => {
        if (!closed) log.warn({ err, nodeId }, 'the lease was not renewed; trying again');
      })
      .finally(() => {
        beating = undefined;
        if (closed) return;
        timer = setTimeout(beatNow, wanted ? 0 : renewMs).unref();
        wanted = false;
      });
  }

  return {
    /**
     * Registers this node. Throws SETTING_INVALID when its settings do not permit it beside the live nodes; waits for the
     * lease of a node that has just died.
     */
    async start(): Promise<void> {
      await connection.start();
      const giveUp = performance.now() + validMs + renewMs;
      for (;;) {
        const on = connection.current();
        try {
          if (!on) throw new Error('the connection for the lease has ended');
          await register(on);
          break;
        } catch (cause) {
          if (performance.now() > giveUp) throw cause;
          await new Promise((resolve) => setTimeout(resolve, renewMs / 4));
        }
      }
      beatNow();
    },

    /** The name of this node; it changes after a lost lease. */
    id: (): string => nodeId,
    /** The live nodes as of the last renewal, in the order of their registration, including this one. */
    live: (): readonly Node[] => live,
    isLive: (id: string): boolean => liveIds.has(id),
    /** The number of nodes that share the work: at least one. */
    count: (): number => Math.max(1, live.length),
    /** True for at most one node at a time, the leader: it does the work that must not be done twice. */
    leads: (): boolean => mayAct() && live[0]?.nodeId === nodeId,
    /** Whether this node may begin work: false when 80 % of its lease have passed without a renewal. */
    mayAct,
    /** Seconds of the usable part of the lease that remain; 0 when it is lost. */
    left: (): number => Math.max(0, time.leftMs() / 1000),
    /** The encryption keys of the other nodes: the one that each writes with, and all that it has. */
    encryption: (): KeysOfNode[] => live.filter((node) => node.nodeId !== nodeId).map(keysOf),
    /** Why this node should get no requests; undefined when it is ready. */
    trouble: (): string | undefined => (mayAct() ? undefined : 'the lease of this node is not renewed'),

    /**
     * Registers a listener for a lease that is late, or has ended. It must end all work on receivers, since other nodes may
     * take them.
     */
    onLost: (listener: Listener): void => void listeners.lost.push(listener),
    /** Registers a listener for a late lease of which the database says nothing: the devices must go to other nodes. */
    onCut: (listener: Listener): void => void listeners.cut.push(listener),
    /** Registers a listener for a new lease, which has a new name; the listener gets the former name. */
    onBack: (listener: (formerId: string) => void): void => void listeners.back.push(listener),
    /** Registers a listener for nodes that join or leave. */
    onChanged: (listener: Listener): void => void listeners.changed.push(listener),
    /** Registers a listener for nodes that leave, in order or without a word. */
    onGone: (listener: Listener): void => void listeners.gone.push(listener),
    /**
     * Registers a task that gets the connection of the lease after each renewal. It must be quick, because the next
     * renewal waits for it.
     */
    atBeat: (task: AtBeat): void => void atBeat.push(task),
    /** Renews the lease now. */
    beatNow,
    /** To be called when what this node's row says has changed. */
    told: beatNow,

    /** Deletes this node's row, so that other nodes take over its work without waiting for the end of its lease. */
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      clearTimeout(timer);
      clearTimeout(lostTimer);
      clearTimeout(graceTimer);
      await beating;
      time.end();
      const on = connection.current();
      if (on && holds) await deleteNode(on, nodeId).catch(() => undefined);
      holds = false;
      await connection[Symbol.asyncDispose]();
    },
  };
}
