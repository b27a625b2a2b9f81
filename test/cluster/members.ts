import { EventEmitter, once } from 'node:events';
import { Writable } from 'node:stream';
import type { Test } from 'tap';
import { createMetrics } from '../../src/metrics.ts';
import { createBus } from '../../src/platform/cluster/bus.ts';
import type { Hint } from '../../src/platform/cluster/hints.ts';
import { createNodes, type Lease } from '../../src/platform/cluster/nodes.ts';
import { createPartitions } from '../../src/platform/cluster/partitions.ts';
import {
  type OpenRaw,
  type RawConnection,
  rawConnections,
} from '../../src/platform/database/postgres/raw-connection.ts';
import { randomIds } from '../../src/runtime/ids.ts';
import { createLog } from '../../src/runtime/log.ts';

/** Long enough for most machines, short enough for a test that waits for its end. */
export const QUICK: Lease = { renewMs: 100, validMs: 1_000 };
/** For a test whose nodes keep their names, also on a machine that stands still for seconds. */
export const STEADY: Lease = { renewMs: 100, validMs: 60_000 };

/** Calls a function after each answer, before anybody reads it. */
const watched = (connection: RawConnection, answered: () => void): RawConnection => ({
  async query(text, ...values) {
    const rows = await connection.query<never>(text, ...values);
    answered();
    return rows;
  },
  close: () => connection.close(),
});

/** Connections that a test can cut, or forbid. */
export function createWire(url: string, answered: () => void = () => undefined) {
  const open = rawConnections(url);
  const made = new Map<string, Set<{ close(): void }>>();
  const refused = new Set<string>();
  return {
    open: (async (options) => {
      if (refused.has(options.name)) throw new Error('the wire is cut');
      const connection = watched(await open(options), answered);
      const same = made.get(options.name) ?? new Set();
      made.set(options.name, same.add(connection));
      return connection;
    }) satisfies OpenRaw,
    /** Cuts the connections of that name; with `forGood` there are no new ones until `mend`. */
    cut(name: string, forGood = false): void {
      if (forGood) refused.add(name);
      for (const connection of made.get(name) ?? []) connection.close();
      made.delete(name);
    },
    mend: (name: string): boolean => refused.delete(name),
  };
}

/** Tries again while connections are cut off for their bound. */
async function onceConnected(start: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!/terminated|timeout/i.test((error as Error).message)) throw error;
    }
  }
}

/** A node without a service: its view of the other nodes, its hints, and its devices. */
export async function startMember(
  t: Test,
  url: string,
  wanted: {
    lacking?: string;
    fingerprint?: string;
    loses?: (hint: Hint) => boolean;
    lease?: Lease;
    wall?: () => number;
    answered?: () => void;
  } = {},
) {
  const { lacking = '', fingerprint = '{}', loses, lease = QUICK, wall, answered } = wanted;
  const wire = createWire(url, answered);
  const lines: { msg: string; settings?: string[] }[] = [];
  const destination = new Writable({
    write(line: Buffer, _, done) {
      lines.push(JSON.parse(line.toString()) as (typeof lines)[number]);
      done();
    },
  });
  const log = createLog({ level: 'info', destination });
  const metrics = createMetrics();
  const { open } = wire;
  const nodes = createNodes({
    open,
    ids: randomIds,
    log,
    metrics,
    lease,
    ...(wall && { wall }),
    about: { release: '1', fingerprint, lacking },
  });
  const bus = createBus({
    open,
    log,
    metrics,
    nodeId: nodes.id,
    live: nodes.live,
    isLive: nodes.isLive,
    ...(loses && { loses }),
  });
  const partitions = createPartitions({ nodes, bus, log, metrics, unservedMs: 0 });
  const events = new EventEmitter();
  const told: string[] = [];
  const drains = { hold: Promise.resolve() };
  partitions.serve({
    adopt: async () => void events.emit('partitions'),
    drain: () => drains.hold,
    dropLost: () => undefined,
  });
  bus.on('wake', (about) => {
    told.push(about);
    events.emit('told');
  });
  nodes.atBeat(async () => void events.emit('beat'));
  for (const [name, on] of [
    ['lost', nodes.onLost],
    ['back', nodes.onBack],
  ] as const)
    on(() => events.emit(name));
  nodes.onBack(() => void bus.renamed());
  bus.onGap(() => events.emit('gap'));

  const member = {
    nodes,
    bus,
    partitions,
    wire,
    lines,
    metrics,
    drains,
    /** The devices and receivers that hints told it to wake, in order. */
    told,
    /** Resolves at the next event of this kind. */
    next: async (event: 'lost' | 'back' | 'told' | 'gap' | 'beat'): Promise<void> => void (await once(events, event)),
    /** Resolves after a renewal of the lease at which `check` holds. */
    async until(check: () => boolean): Promise<void> {
      while (!check()) await once(events, 'beat');
    },
    /** The partitions in which it may work. */
    mine: (): number[] => Array.from({ length: 64 }, (_, at) => at).filter(partitions.mine),
    async stop(): Promise<void> {
      await nodes[Symbol.asyncDispose]();
      await bus[Symbol.asyncDispose]();
    },
  };
  t.teardown(member.stop);
  // The bound of a connection is half of the short lease: on a busy machine PostgreSQL may answer later.
  await onceConnected(nodes.start);
  await onceConnected(bus.start);
  return member;
}
