import type { createMetricKinds } from './runtime/metric-kinds.ts';

/** The metrics of the nodes at one database. */
export const createClusterMetrics = ({ counter, gauge }: ReturnType<typeof createMetricKinds>) => ({
  clusterNodes: gauge(
    'cluster_nodes',
    'Nodes with a valid lease at the database, as this node sees them; 0 without a cluster',
  ),
  clusterHealAge: gauge(
    'cluster_heal_age_seconds',
    'Seconds since this node last searched the whole database for work that a lost message of another node would have announced',
  ),
  clusterLease: gauge(
    'cluster_lease_seconds',
    'Seconds for which this node may still begin work, which are the first 80 % of its lease; 0 when the lease is lost',
  ),
  clusterHints: counter(
    'cluster_hints_total',
    'Messages by which nodes tell each other of new work, by kind and outcome',
    ['kind', 'outcome'],
  ),
  clusterFenced: counter(
    'cluster_fenced_total',
    'Connections closed because their device has connected to another node',
  ),
  clusterHandedOver: counter(
    'cluster_handed_over_total',
    'Connections closed so that their devices connect to a node with fewer devices',
  ),
  clusterPartitions: gauge(
    'cluster_partitions',
    'Partitions whose webhooks this node sends; all webhook receivers are divided into 64 partitions',
  ),
});
