import { type Child, code, div, p, small, span, use, type VNode } from '../base/elements.ts';
import { bytes, count, counted, when } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { operation, read } from '../base/requests.ts';
import type { ServiceNode } from '../base/rows.ts';
import { loaded } from '../parts/loaded.ts';
import { plots } from '../parts/plot.ts';
import { age, badge, card, id, moment, nothing, said } from '../parts/show.ts';
import { type Column, rowsTable } from '../parts/table.ts';

const EVERY = 15_000;
/** The days before its end in which a certificate is shown as a warning, and as a fault. */
const [WARN, FAULT] = [30, 7];
/** The points of a disk below which no line is drawn. */
const FEWEST = 2;

const nameOf = ({ nodeId }: ServiceNode): Child => (nodeId === null ? 'this process' : id(nodeId));

const leaseOf = ({ state, leaseSeconds }: ServiceNode): Child => {
  if (state === 'missing') return badge('bad', `missing for ${counted(Math.ceil(-leaseSeconds! / 60), 'minute')}`);
  return leaseSeconds === null ? badge('good', 'alone') : badge('good', `lease for ${leaseSeconds.toFixed(1)} s`);
};

interface Entry {
  node: ServiceNode;
  certificate: Certificate;
}

/** The column of the node; a process that is alone needs none. */
const nodeColumn = (nodes: readonly ServiceNode[]): Column<Entry>[] =>
  nodes.length > 1 ? [{ name: 'Node', cell: ({ node }) => (node.nodeId ? id(node.nodeId) : nothing()) }] : [];

const nodesTable = (nodes: readonly ServiceNode[]): VNode =>
  rowsTable({
    label: 'Nodes',
    rows: nodes,
    keyOf: ({ nodeId }) => nodeId ?? '',
    columns: [
      {
        name: 'Node',
        kind: 'lead',
        cell: (node) => [nameOf(node), node.isSelf && node.nodeId !== null ? small(null, 'this one') : null],
      },
      { name: 'State', kind: 'short', cell: leaseOf },
      { name: 'Devices', kind: 'right', cell: ({ devices }) => (devices === null ? nothing() : count(devices)) },
      { name: 'Version', kind: 'short', cell: ({ version }) => said(version) },
      { name: 'Started', kind: 'short', cell: ({ startedAt }) => age(startedAt) },
      { name: 'Database check', kind: 'short', cell: ({ databaseCheck }) => said(databaseCheck) },
    ],
  });

type Certificate = ServiceNode['certificates'][number];

const WHICH = { cert: null, client_ca: 'CA of client certificates', client_crl: 'revocation list' } as const;

function leftOf({ file, daysLeft }: Certificate): VNode {
  if (daysLeft < 0) return badge('bad', file === 'client_crl' ? 'out of date' : 'expired');
  // A list is renewed every few days; the alarms compare what is left of it with its own time.
  if (file === 'client_crl') return badge('good', daysLeft === 0 ? 'today' : `${counted(daysLeft, 'day')} left`);
  return badge(daysLeft < FAULT ? 'bad' : daysLeft < WARN ? 'warn' : 'good', `${counted(daysLeft, 'day')} left`);
}

function certificatesCard(nodes: readonly ServiceNode[]): Child {
  const rows = nodes
    .flatMap((node) => node.certificates.map((certificate) => ({ node, certificate })))
    .toSorted((a, b) => a.certificate.daysLeft - b.certificate.daysLeft);
  if (rows.length === 0) return null;
  return card(
    { title: 'Certificates', bare: true },
    rowsTable({
      label: 'Certificates',
      rows,
      keyOf: ({ node, certificate: { listener, file } }) => `${node.nodeId} ${listener} ${file}`,
      columns: [
        {
          name: 'Listener',
          kind: 'lead',
          cell: ({ certificate: { listener, file } }) =>
            div(null, code(null, listener), WHICH[file] && small(null, WHICH[file])),
        },
        ...nodeColumn(nodes),
        { name: 'Valid', kind: 'short', cell: ({ certificate }) => leftOf(certificate) },
        { name: 'Until', kind: 'short', cell: ({ certificate }) => moment(certificate.expiresAt) },
      ],
    }),
  );
}

function diskCard(node: ServiceNode, isAlone: boolean): Child {
  const { disk, nodeId } = node;
  if (!disk) return null;
  const times = disk.points.map(({ at }) => Date.parse(at) / 1000);
  const full =
    disk.fullAt === null
      ? 'It does not fill, or the last days do not say it yet.'
      : `Full on ${when(disk.fullAt)}, if it fills on as in the last days.`;
  return card(
    { title: isAlone ? 'Disk' : `Disk of ${nodeId}`, bare: times.length >= FEWEST },
    p(
      { class: times.length >= FEWEST ? 'pad' : '' },
      span({ class: 'num' }, `${bytes(disk.freeBytes)} of ${bytes(disk.sizeBytes)} are free. `),
      full,
    ),
    times.length < FEWEST
      ? null
      : plots([
          {
            label: 'Free space',
            times,
            from: times[0]!,
            to: times.at(-1)!,
            show: bytes,
            lines: [{ name: 'free', colour: 'plot-1', values: disk.points.map(({ freeBytes }) => freeBytes) }],
          },
        ]),
  );
}

function Nodes(): Child {
  const nodes = useLoad(
    'nodes',
    async (signal) => (await read<{ nodes: ServiceNode[] }>(operation('listNodes'), { signal })).nodes,
    { every: EVERY },
  );
  const found = nodes.state.value.value ?? [];
  return [
    card({ title: 'Nodes', bare: true }, loaded(nodes, nodesTable)),
    certificatesCard(found),
    div(
      { class: 'columns' },
      found.map((node) => diskCard(node, found.length === 1)),
    ),
  ];
}

/** The nodes with their devices and leases, all certificates, and the disks with the day on which they are full. */
export const nodesCards = (): VNode => use(Nodes, {});
