import { ownVersion } from '@lapel/schemas/base/version';
import type { Config } from '../../config.ts';
import { currentDatabaseUrl } from '../../runtime/current-database-url.ts';
import { createAlone } from './alone.ts';
import { type Cluster, createCluster } from './cluster.ts';
import { fingerprintOf, lackingSettings } from './fingerprint.ts';
import { knownNodes } from './node-rows.ts';
import type { Peers } from './peers.ts';
import { serveHints } from './serve-hints.ts';

type All = Parameters<typeof createCluster>[0];
type Parts = Pick<All, 'database' | 'clock' | 'ids' | 'log' | 'metrics' | 'encryptionKeys'>;

/** Options that tests change: leases, connections, lost hints. */
export type ClusterOverrides = Partial<Pick<All, 'lease' | 'loses'>> & { open?(url: string): All['open'] };

/** Opens the cluster of a PostgreSQL database; this process may be its only node. */
async function openCluster(url: string, config: Config, parts: Parts, overrides: ClusterOverrides): Promise<Cluster> {
  // PostgreSQL's client is loaded only if it is needed.
  const { rawConnections } = await import('../database/postgres/raw-connection.ts');
  const { open, ...others } = overrides;
  const opened = open?.(url) ?? rawConnections(currentDatabaseUrl(url, config.databaseUrlFile));
  const release = ownVersion();
  const about = { release, fingerprint: fingerprintOf(config, release), lacking: lackingSettings(config).join(' ') };
  return createCluster({ ...parts, ...others, open: opened, about, handOverRate: config.handOverRate });
}

/** The peers of this process: the other nodes at its PostgreSQL database, or none for a SQLite file. */
export async function openPeers(config: Config, parts: Parts, overrides: ClusterOverrides = {}): Promise<Peers> {
  if (config.databaseUrl === null) return createAlone();
  const cluster = await openCluster(config.databaseUrl, config, parts, overrides);
  const { nodes, bus, ownership, partitions, shares, heal } = cluster;
  return {
    cluster,
    nodes,
    known: () => knownNodes(parts.database.aside),
    bus,
    ownership,
    partitions,
    shares: shares.of,
    vitals: () => ({ lease: nodes.left(), healAge: heal.age() }),
    serve: (workers) => serveHints(cluster, workers),
  };
}
