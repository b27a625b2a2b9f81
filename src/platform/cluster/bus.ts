import type { Metrics } from '../../metrics.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { OpenRaw, RawConnection } from '../database/postgres/raw-connection.ts';
import { fromPayload, type Hint, type HintKind, toLine, toPayloads } from './hints.ts';
import { createReconnectingConnection } from './reconnecting-connection.ts';

/**
 * The most hints that wait to be sent to one node. Further hints are dropped. The node is told so as soon as it can be,
 * and then looks for the work that they announced (heal.ts).
 */
const MOST_WAITING = 20_000;
/** Milliseconds between two checks of the connection, since a connection that is cut off gives no sign by itself. */
const CHECK_MS = 1_000;
const LONGEST_WAIT_MS = 2_000;

type Handler = (about: string) => void;

/** The channel through which nodes send hints to one another; NATS or Redis could replace it. */
export interface Bus {
  /** Sends a hint to one node; does nothing when that node is not live. */
  send(nodeId: string, hint: Hint): void;
  /** Sends a hint to all other nodes. */
  broadcast(hint: Hint): void;
  on(kind: HintKind, handler: Handler): void;
  /** Registers a function that is called when hints may have been missed. It must then look for work everywhere. */
  onGap(handler: () => void): void;
}

interface Parts {
  open: OpenRaw;
  log: Log;
  metrics: Pick<Metrics, 'clusterHints'>;
  /** The current name of this node. `live` lists all live nodes, including this one. */
  nodeId(): string;
  live(): readonly { nodeId: string }[];
  isLive(nodeId: string): boolean;
  /** For tests: returns true for a hint that is to be lost. */
  loses?(hint: Hint): boolean;
}

const channelOf = (nodeId: string): string => `lapel_${nodeId}`;

/**
 * Sends hints with PostgreSQL's NOTIFY, on a connection of its own: inside a unit of work, NOTIFY would take a lock
 * that all commits share. Each node listens to a channel of its own. Hints that come while a notification is being sent
 * go together into the next one, and equal hints go once.
 */
export function createBus({ open, log, metrics, nodeId, live, isLive, loses }: Parts) {
  const handlers = new Map<HintKind, Handler>();
  const onGaps: (() => void)[] = [];
  /** By node: the hints that wait to be sent, as lines. */
  let waiting = new Map<string, Set<string>>();
  /** The nodes to which hints were dropped, and which do not know it yet. */
  const unaware = new Set<string>();
  const work = createWork();
  let sending = false;
  let scheduled = false;
  let listensTo = '';
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const connection = createReconnectingConnection({
    open,
    name: 'lapel hints',
    boundMs: LONGEST_WAIT_MS,
    async prepare(made) {
      // A hint may be lost, so the commit that sends it need not wait for the disk.
      await made.query('SET synchronous_commit = off');
      await listen(made);
    },
    onNotification: receive,
    onOpen: gap,
  });

  async function listen(on: RawConnection): Promise<void> {
    const own = nodeId();
    await on.query('UNLISTEN *');
    await on.query(`LISTEN "${channelOf(own)}"`);
    listensTo = own;
  }

  function gap(): void {
    for (const handler of onGaps) handler();
  }

  function receive(payload: string): void {
    for (const hint of fromPayload(payload)) {
      if (loses?.(hint)) {
        metrics.clusterHints.inc({ kind: hint.kind, outcome: 'dropped' });
        continue;
      }
      metrics.clusterHints.inc({ kind: hint.kind, outcome: 'received' });
      handlers.get(hint.kind)?.(hint.about);
    }
  }

  function send(to: string, hint: Hint): void {
    if (closed || to === nodeId() || !isLive(to)) return;
    const lines = waiting.get(to) ?? new Set<string>();
    waiting.set(to, lines);
    if (lines.size >= MOST_WAITING) {
      metrics.clusterHints.inc({ kind: hint.kind, outcome: 'dropped' });
      unaware.add(to);
      return;
    }
    lines.add(toLine(hint));
    schedule();
  }

  function schedule(): void {
    if (sending || scheduled) return;
    scheduled = true;
    work.begun();
    setImmediate(() => {
      scheduled = false;
      void sendAll().finally(work.ended);
    });
  }

  async function sendAll(): Promise<void> {
    sending = true;
    while (waiting.size > 0) {
      const batch = waiting;
      waiting = new Map();
      const outcome = await notify(batch).then(
        () => 'sent' as const,
        () => 'dropped' as const,
      );
      if (outcome === 'dropped') for (const to of batch.keys()) unaware.add(to);
      for (const lines of batch.values())
        for (const { kind } of fromPayload([...lines].join('\n'))) metrics.clusterHints.inc({ kind, outcome });
    }
    sending = false;
  }

  async function notify(batch: Map<string, Set<string>>): Promise<void> {
    const on = connection.current();
    if (!on) throw new Error('there is no connection for hints');
    const channels: string[] = [];
    const payloads: string[] = [];
    for (const [to, lines] of batch)
      for (const payload of toPayloads(lines)) {
        channels.push(channelOf(to));
        payloads.push(payload);
      }
    const text = 'SELECT pg_notify(channel, payload) FROM unnest($1::text[], $2::text[]) AS told (channel, payload)';
    await on.query(text, channels, payloads);
  }

  /** Checks that the connection works and listens to the node's current name. */
  async function checkConnection(): Promise<void> {
    const on = connection.current();
    try {
      if (on && listensTo !== nodeId()) {
        await listen(on);
        gap();
      } else await on?.query('SELECT 1');
      if (on) tellUnaware();
    } catch (err) {
      if (!closed) log.warn({ err }, 'the connection for hints is opened again');
      on?.close();
    }
    scheduleCheck();
  }

  function tellUnaware(): void {
    // A node to which no hint can be sent is unaware again, so the set must not be read while it changes.
    const told = [...unaware];
    unaware.clear();
    for (const to of told) send(to, { kind: 'missed', about: '' });
  }

  function scheduleCheck(): void {
    if (!closed) timer = setTimeout(() => void checkConnection(), CHECK_MS).unref();
  }

  handlers.set('missed', gap);

  return {
    send,
    broadcast(hint: Hint): void {
      for (const node of live()) send(node.nodeId, hint);
    },
    on: (kind: HintKind, handler: Handler): void => void handlers.set(kind, handler),
    onGap: (handler: () => void): void => void onGaps.push(handler),
    gap,

    /** Begins to listen. */
    async start(): Promise<void> {
      await connection.start();
      scheduleCheck();
    },
    /** Listens to the node's new name. */
    async renamed(): Promise<void> {
      const on = connection.current();
      if (!on) return; // the next connection listens to the node's new name
      try {
        await listen(on);
        gap();
      } catch {
        on.close(); // the next connection listens to the node's new name
      }
    },
    /** Resolves when no hint waits to be sent. */
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await work.idle();
      await connection[Symbol.asyncDispose]();
    },
  } satisfies Bus & Record<PropertyKey, unknown>;
}
