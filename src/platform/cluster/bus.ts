import type { Metrics } from '../../metrics.ts';
import { createWork } from '../../runtime/idle.ts';
import type { Log } from '../../runtime/log.ts';
import type { OpenRaw, RawConnection } from '../database/postgres/raw-connection.ts';
import { fromPayload, type Hint, type HintKind, toLine, toPayloads } from './hints.ts';
import { createKeptConnection } from './kept-connection.ts';

/** Hints that wait for one node at most: what they speak of is found by the next look. */
const MOST_WAITING = 20_000;
/** Milliseconds between two questions whether the connection is still one: one that is cut off says nothing by itself. */
const PULSE = 1_000;
const PATIENCE = 2_000;

type Handler = (about: string) => void;

/** How nodes tell one another something; NATS or Redis could take its place. */
export interface Bus {
  /** To one node; nothing when it is not a live one. */
  send(nodeId: string, hint: Hint): void;
  /** To all the others. */
  broadcast(hint: Hint): void;
  on(kind: HintKind, handler: Handler): void;
  /** Hints may have been missed: whoever lives by them looks at everything. */
  onGap(handler: () => void): void;
}

interface Parts {
  open: OpenRaw;
  log: Log;
  metrics: Pick<Metrics, 'clusterHints'>;
  /** The name under which this node is told something, and those of all that live. */
  nodeId(): string;
  live(): readonly { nodeId: string }[];
  isLive(nodeId: string): boolean;
  /** True for a hint that is to be lost; for tests. */
  loses?(hint: Hint): boolean;
}

const channelOf = (nodeId: string): string => `lapel_${nodeId}`;

/**
 * NOTIFY on a connection that nothing else uses: inside of a unit of work it would take a lock at the commit that all
 * commits share. One channel for each node. What is said while a notification is on its way goes together in the next one,
 * and what is said twice goes once.
 */
export function createBus({ open, log, metrics, nodeId, live, isLive, loses }: Parts) {
  const handlers = new Map<HintKind, Handler>();
  const onGaps: (() => void)[] = [];
  /** By node: lines. */
  let waiting = new Map<string, Set<string>>();
  const work = createWork();
  let sending = false;
  let scheduled = false;
  let listensTo = '';
  let pulse: NodeJS.Timeout | undefined;
  let closed = false;

  const connection = createKeptConnection({
    open,
    name: 'lapel hints',
    boundMs: PATIENCE,
    async prepare(made) {
      // A hint is no truth: its commit need not wait for the disk.
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
        () => 'dropped' as const, // healed by the next look
      );
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

  /** Finds out whether the connection still is one, and whether it listens to the present name. */
  async function feel(): Promise<void> {
    const on = connection.current();
    try {
      if (on && listensTo !== nodeId()) {
        await listen(on);
        gap();
      } else await on?.query('SELECT 1');
    } catch (err) {
      if (!closed) log.warn({ err }, 'the connection for hints is made again');
      on?.close();
    }
    beat();
  }

  function beat(): void {
    if (!closed) pulse = setTimeout(() => void feel(), PULSE).unref();
  }

  return {
    send,
    broadcast(hint: Hint): void {
      for (const node of live()) send(node.nodeId, hint);
    },
    on: (kind: HintKind, handler: Handler): void => void handlers.set(kind, handler),
    onGap: (handler: () => void): void => void onGaps.push(handler),
    gap,

    /** Listens from here on. */
    async start(): Promise<void> {
      await connection.start();
      beat();
    },
    /** The node has another name now. */
    async renamed(): Promise<void> {
      const on = connection.current();
      if (!on) return; // the next connection listens to the new name
      try {
        await listen(on);
        gap();
      } catch {
        on.close(); // and so does the one after this
      }
    },
    /** Resolves when nothing is left to be told. */
    idle: work.idle,
    async [Symbol.asyncDispose](): Promise<void> {
      closed = true;
      clearTimeout(pulse);
      await work.idle();
      await connection[Symbol.asyncDispose]();
    },
  } satisfies Bus & Record<PropertyKey, unknown>;
}
