import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Ids } from '../../runtime/ids.ts';
import type { Log } from '../../runtime/log.ts';
import type { OpenRaw, RawConnection } from '../database/postgres/raw-connection.ts';
import { differingSettings } from './fingerprint.ts';
import { createKeptConnection } from './kept-connection.ts';
import { admitting, deleteDead, deleteNode, insertNode, liveNodes, type Node, renewLease } from './node-rows.ts';

/** Milliseconds. */
export interface Lease {
  /** Between the end of one renewal and the next. */
  renewMs: number;
  validMs: number;
}

export const LEASE: Lease = { renewMs: 700, validMs: 3_000 };
/** What of a lease may be used: what is begun then has an end before another node may begin the same. */
const USED = 0.8;

export interface NodesParts {
  open: OpenRaw;
  ids: Ids;
  log: Log;
  metrics: Pick<Metrics, 'clusterNodes'>;
  /** What the others see of this one. */
  about: Pick<Node, 'release' | 'fingerprint' | 'lacking'>;
  lease?: Lease;
  /** Devices that are connected to this node. */
  devices?(): number;
  /** Milliseconds of the clock of the wall; for tests. */
  wall?(): number;
}

/** A moment by two clocks: the steady one stands still while the machine is suspended, that of the wall can be set. */
interface Moment {
  steady: number;
  wall: number;
}

type Listener = () => void;
/** What is done with the lease's connection after each renewal. */
type AtBeat = (connection: RawConnection) => Promise<void>;

export type Nodes = ReturnType<typeof createNodes>;

/**
 * Which nodes live, by leases in the database. A node renews its own on a connection that nothing else uses, never twice at
 * once, and counts its time from before the renewal was sent, so it never believes in its lease for longer than the others
 * do. When it could not renew it for 80 % of its time it is lost: `mayAct` is false, and who listens is told. A lease that
 * has run out is never taken up again: the node comes back under a new name, so that whatever has its old name is known to
 * be of a dead one. All this is in real time: it is about processes, not about the domain. Time has gone by when either of two
 * clocks says so: a machine that was suspended does not believe in the lease that it had before.
 */
export function createNodes({ open, ids, log, metrics, about, lease = LEASE, wall = Date.now, ...parts }: NodesParts) {
  const { renewMs, validMs } = lease;
  let nodeId = '';
  let live: readonly Node[] = [];
  let liveIds: ReadonlySet<string> = new Set();
  let sentAt: Moment = { steady: Number.NEGATIVE_INFINITY, wall: 0 }; // the renewal that holds
  let holds = false; // between a registration and the loss of that lease
  let timer: NodeJS.Timeout | undefined;
  let lostTimer: NodeJS.Timeout | undefined;
  let beating: Promise<void> | undefined;
  let wanted = false; // one more beat at once, after the one that is under way
  let closed = false;
  const warned = new Set<string>();
  const atBeat: AtBeat[] = [];
  const listeners = { lost: [] as Listener[], back: [] as ((formerId: string) => void)[], changed: [] as Listener[] };
  const connection = createKeptConnection({
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
  }

  function warnOfDifference(node: Node): void {
    const settings = differingSettings(about.fingerprint, node.fingerprint);
    if (settings.length === 0 || warned.has(node.nodeId)) return;
    warned.add(node.nodeId);
    log.warn({ nodeId: node.nodeId, settings }, 'a node has other settings than this one');
  }

  const moment = (): Moment => ({ steady: performance.now(), wall: wall() });
  /** Milliseconds of the lease that may be used; not more than 0 when it is lost. */
  const left = (): number => validMs * USED - Math.max(performance.now() - sentAt.steady, wall() - sentAt.wall);
  const mayAct = (): boolean => left() > 0;

  /** From the moment before the statement was sent. */
  function prolong(at: Moment): void {
    sentAt = at;
    clearTimeout(lostTimer);
    lostTimer = setTimeout(lose, left()).unref();
  }

  function end(): void {
    sentAt = { steady: Number.NEGATIVE_INFINITY, wall: 0 };
  }

  function lose(): void {
    if (!holds) return;
    holds = false;
    end();
    clearTimeout(lostTimer);
    if (closed) return;
    log.error({ nodeId }, 'the lease of this node could not be renewed in time');
    for (const listener of listeners.lost) listener();
  }

  /** Comes among the live ones under a new name. Throws SETTING_INVALID when it may not be beside those who live. */
  async function register(on: RawConnection): Promise<void> {
    const formerId = nodeId;
    const id = ids.next('node', Date.now() * 1000);
    let at = moment();
    const nodes = await admitting(on, async () => {
      const others = (await liveNodes(on)).filter((node) => node.nodeId !== formerId);
      requireCompany(others);
      at = moment();
      await insertNode(on, { nodeId: id, ...about }, validMs);
      await deleteDead(on);
      return liveNodes(on);
    });
    if (closed) return;
    nodeId = id;
    holds = true;
    prolong(at);
    setLive(nodes);
    if (formerId !== '') {
      log.warn({ nodeId, formerId }, 'this node is back, under another name');
      for (const listener of listeners.back) listener(formerId);
    }
  }

  function requireCompany(others: readonly Node[]): void {
    const alone = others.find(({ lacking }) => lacking !== '');
    const [own] = about.lacking.split(' ');
    if (others.length > 0 && own) {
      const problem = 'is needed, because another node lives at this database';
      throw new DomainError('SETTING_INVALID', { values: { setting: own, problem } });
    }
    if (!alone) return;
    const problem = `the node ${alone.nodeId} lives at this database without ${alone.lacking.replaceAll(' ', ', ')}: it needs them before another one may come`;
    throw new DomainError('SETTING_INVALID', { values: { setting: 'LAPEL_DATABASE_URL', problem } });
  }

  async function beatOnce(): Promise<void> {
    const on = connection.current();
    if (!on) return; // it tells when it is there
    const at = moment();
    if (holds) {
      const nodes = await renewLease(on, { nodeId, devices: parts.devices?.() ?? null }, validMs);
      if (nodes.some((node) => node.nodeId === nodeId)) {
        if (holds) prolong(at); // else it was too late for that: the next beat begins anew
        setLive(nodes);
      } else lose();
    }
    if (!holds && !closed) await register(on);
    if (mayAct()) for (const task of atBeat) await task(on);
  }

  function beatNow(): void {
    if (closed || nodeId === '') return; // start() makes the first
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
    /** Registers this node. Throws SETTING_INVALID when it may not be beside those who live; one that has just died is waited for. */
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

    /** The name of this node; another one after it lost its lease. */
    id: (): string => nodeId,
    /** Live nodes in the order in which they came, this one included; as of the last renewal. */
    live: (): readonly Node[] => live,
    isLive: (id: string): boolean => liveIds.has(id),
    /** How many share the work: at least one. */
    count: (): number => Math.max(1, live.length),
    /** True for one node at a time, as far as its lease goes: what is to be done by one. */
    leads: (): boolean => mayAct() && live[0]?.nodeId === nodeId,
    /** False from when 80 % of the lease have gone by. */
    mayAct,
    /** Seconds of the lease that may be used; 0 when it is lost. */
    left: (): number => Math.max(0, left() / 1000),
    /** Why this node is not ready; undefined when it is. */
    trouble: (): string | undefined => (mayAct() ? undefined : 'the lease of this node is not renewed'),

    /** The lease was lost: all that is a matter of owning something ends now. */
    onLost: (listener: Listener): void => void listeners.lost.push(listener),
    /** It has a lease again, under another name than the one given. */
    onBack: (listener: (formerId: string) => void): void => void listeners.back.push(listener),
    /** Others came or went. */
    onChanged: (listener: Listener): void => void listeners.changed.push(listener),
    /** `task` has the lease's connection after each renewal; it must be quick. */
    atBeat: (task: AtBeat): void => void atBeat.push(task),
    /** Renews now. */
    beatNow,

    /** The node goes: whoever comes next need not wait for the end of its lease. */
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      clearTimeout(timer);
      clearTimeout(lostTimer);
      await beating;
      end();
      const on = connection.current();
      if (on && holds) await deleteNode(on, nodeId).catch(() => undefined);
      holds = false;
      await connection[Symbol.asyncDispose]();
    },
  };
}
