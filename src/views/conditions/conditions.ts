import type { WayIn } from '../../core/people/person-repository.ts';
import type { KnownNode } from '../../platform/cluster/node-rows.ts';
import type { Certificate } from '../../platform/entrance/expiry-watch.ts';
import type { Micros } from '../../runtime/units.ts';
import type { FailingPart, NodeState } from '../node-state.ts';
import type { Alarm } from './kinds.ts';
import { type FleetNow, ofFleet } from './of-fleet.ts';
import { counted, days, size } from './words.ts';

const DAY = 86_400;
const GIB = 1024 ** 3;
/** The share of free space, and the bytes, below which a disk is nearly full. */
const FULL = { share: 0.05, bytes: GIB } as const;
/** Days before the disk is full, or a certificate expires, from which on it is a warning, and critical. */
const DISK_DAYS = { warning: 7, critical: 2 } as const;
const CERTIFICATE_DAYS = { warning: 30, critical: 7 } as const;
/** The share of the time of a revocation list below which it is a warning, and critical. */
const LIST_SHARES = { warning: 1 / 3, critical: 1 / 5 } as const;
/** Days before the last token of an owner expires, while the administrator token is refused. */
const WAY_IN_DAYS = { warning: 14, critical: 3 } as const;
/** Seconds by which the clock of this node may differ from that of the database. */
const CLOCK_SECONDS = 5;

/** The state of one node, with the day on which its disk is full at its present pace. */
export interface WatchedNode {
  nodeId: string | null;
  state: NodeState;
  fullAt: Micros | null;
}

function ofDisk({ nodeId, state, fullAt }: WatchedNode, now: Micros): Alarm[] {
  if (!state.disk) return [];
  const { free, size: all } = state.disk;
  if (free < Math.max(FULL.share * all, Math.min(FULL.bytes, all / 2)))
    return [{ kind: 'disk', level: 'critical', text: `The disk is nearly full: ${size(free)} are free.`, nodeId }];
  const left = fullAt === null ? Number.POSITIVE_INFINITY : (fullAt - now) / 1_000_000 / DAY;
  if (left > DISK_DAYS.warning) return [];
  const level = left <= DISK_DAYS.critical ? 'critical' : 'warning';
  return [{ kind: 'disk', level, text: `The disk will be full in ${days(Math.max(0, Math.floor(left)))}.`, nodeId }];
}

/** Lists are renewed every few days or hours: what is left of their own time counts. */
function ofRevocationList({ listener, begins, expires }: Certificate, now: number): Omit<Alarm, 'nodeId'>[] {
  const [left, life] = [expires - now, expires - begins];
  if (left > Math.min(CERTIFICATE_DAYS.warning * DAY, LIST_SHARES.warning * life)) return [];
  const level = left < LIST_SHARES.critical * life ? 'critical' : 'warning';
  const which = `revocation list of client certificates of ${listener}`;
  const hours = Math.floor(left / 3600);
  const when = hours < 48 ? counted(hours, 'hour', 'hours') : days(Math.floor(left / DAY));
  const text = left <= 0 ? `The ${which} is out of date: none is accepted.` : `The ${which} is out of date in ${when}.`;
  return [{ kind: 'certificate', level, text }];
}

function ofCertificates({ nodeId, state }: WatchedNode, now: Micros): Alarm[] {
  return state.certificates.flatMap((one): Alarm[] => {
    const { listener, file, expires } = one;
    if (file === 'client_crl') return ofRevocationList(one, now / 1_000_000).map((alarm) => ({ ...alarm, nodeId }));
    const left = Math.floor((expires - now / 1_000_000) / DAY);
    if (left >= CERTIFICATE_DAYS.warning) return [];
    const level = left < CERTIFICATE_DAYS.critical ? 'critical' : 'warning';
    const which = file === 'cert' ? `certificate of ${listener}` : `CA of client certificates of ${listener}`;
    const text = left < 0 ? `The ${which} has expired.` : `The ${which} expires in ${days(left)}.`;
    return [{ kind: 'certificate', level, text, nodeId }];
  });
}

function ofDatabase({ nodeId, state }: WatchedNode): Alarm[] {
  const late = state.late.map(
    ({ kind, seconds }): Alarm => ({
      kind: 'retention',
      level: 'warning',
      text: `The removal of old ${kind.replaceAll('_', ' ')} is ${days(Math.floor(seconds / DAY))} late.`,
      nodeId,
    }),
  );
  if (state.databaseCheck === 'damaged')
    late.push({ kind: 'database', level: 'critical', text: 'The database is damaged: restore a backup.', nodeId });
  if (state.databaseCheck === 'unknown')
    late.push({ kind: 'database', level: 'warning', text: 'The database could not be checked.', nodeId });
  return late;
}

/** The parts of a node that cannot do their work, or that a person must look at. */
const ofParts = (nodeId: string | null, parts: readonly FailingPart[]): Alarm[] =>
  parts.map(({ part, reason }) => ({ kind: 'part', level: 'critical', text: `${part}: ${reason}`, nodeId }));

/** Warns before a device CA ends, and with it all certificates that it has signed. */
function ofDeviceCa(end: Micros | null, now: Micros): Alarm[] {
  if (end === null) return [];
  const left = Math.floor((end - now) / 1_000_000 / DAY);
  if (left >= CERTIFICATE_DAYS.warning) return [];
  const level = left < CERTIFICATE_DAYS.critical ? 'critical' : 'warning';
  const when = left < 0 ? 'has expired' : `expires in ${days(left)}`;
  const text = `A device CA ${when}: make the next one, and retire it (lapel admin device-ca).`;
  return [{ kind: 'certificate', level, text, nodeId: null }];
}

/** Warns while owners can still sign in, if soon none of them can any more. */
function ofPeople({ token, until }: WayIn, now: Micros): Alarm[] {
  if (token || until === null) return [];
  const left = until === undefined ? -1 : Math.floor((until - now) / 1_000_000 / DAY);
  if (left >= WAY_IN_DAYS.warning) return [];
  const level = left < WAY_IN_DAYS.critical ? 'critical' : 'warning';
  const text =
    left < 0
      ? 'No owner has a valid token: “lapel owner” on the machine of the service makes one.'
      : `The last token of an owner expires in ${days(left)}: make another one.`;
  return [{ kind: 'people', level, text, nodeId: null }];
}

/**
 * The nodes that are missing: each one whose lease has expired without a word, and for which no other has registered
 * since then.
 */
export function missingNodes(known: readonly KnownNode[]): KnownNode[] {
  const came = known.filter(({ leaseSeconds }) => leaseSeconds > 0).map(({ startedAt }) => startedAt);
  const gone = known.filter(({ leaseSeconds }) => leaseSeconds <= 0);
  return gone
    .toSorted((a, b) => a.leaseSeconds - b.leaseSeconds)
    .filter(({ now, leaseSeconds }) => {
      const replaced = came.findIndex((startedAt) => startedAt > now + leaseSeconds * 1_000_000);
      if (replaced >= 0) came.splice(replaced, 1);
      return replaced < 0;
    });
}

interface Looked {
  now: Micros;
  nodes: readonly WatchedNode[];
  known: readonly KnownNode[];
  /** The figures of the whole fleet; null when they could not be looked up. */
  fleet: FleetNow | null;
  wayIn: WayIn;
  /** The end of the device CA that ends first; null without one. */
  deviceCaEnd: Micros | null;
  /** This node with its failing parts of now. They are known also when the nodes could not be looked at. */
  self: { nodeId: string | null; parts: readonly FailingPart[] };
}

/** Finds what must be mended, the critical first. */
export function alarmsOf({ now, nodes, known, fleet, wayIn, deviceCaEnd, self }: Looked): Alarm[] {
  const ahead = known[0] ? (now - known[0].now) / 1_000_000 : 0;
  const found: Alarm[] = [
    ...ofParts(self.nodeId, self.parts),
    ...missingNodes(known).map(
      ({ nodeId, leaseSeconds }): Alarm => ({
        kind: 'node',
        level: 'critical',
        text: `A node has been missing for ${Math.ceil(-leaseSeconds / 60)} minutes.`,
        nodeId,
      }),
    ),
    ...nodes.flatMap((node) => [
      ...ofDisk(node, now),
      ...ofCertificates(node, now),
      ...ofDatabase(node),
      ...(node.nodeId === self.nodeId ? [] : ofParts(node.nodeId, node.state.parts)),
      ...node.state.signs.map((sign): Alarm => ({ ...sign, nodeId: node.nodeId })),
    ]),
    ...(fleet ? ofFleet(fleet, now) : []),
    ...ofPeople(wayIn, now),
    ...ofDeviceCa(deviceCaEnd, now),
  ];
  if (Math.abs(ahead) > CLOCK_SECONDS) {
    const way = ahead > 0 ? 'ahead of' : 'behind';
    const text = `The clock of this node is ${Math.round(Math.abs(ahead))} seconds ${way} that of the database.`;
    found.push({ kind: 'clock', level: 'critical', text, nodeId: null });
  }
  const rank = ({ level }: Alarm): number => ['critical', 'warning', 'info'].indexOf(level);
  return found.toSorted((a, b) => rank(a) - rank(b));
}
