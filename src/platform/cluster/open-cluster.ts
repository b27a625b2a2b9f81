import type { Config } from '../../config.ts';
import { ownVersion } from '../../runtime/version.ts';
import { createCluster } from './cluster.ts';
import { fingerprintOf, lackingSettings } from './fingerprint.ts';

type All = Parameters<typeof createCluster>[0];
type Parts = Pick<All, 'database' | 'clock' | 'ids' | 'log' | 'metrics'>;

/** What a test may have otherwise: shorter leases, connections that it can cut, hints that are lost. */
export type ClusterOverrides = Partial<Pick<All, 'lease' | 'loses'>> & { open?(url: string): All['open'] };

/** The cluster of a PostgreSQL database, of which a process can be the only one. Its client is loaded only where it is. */
export async function openCluster(url: string, config: Config, parts: Parts, overrides: ClusterOverrides = {}) {
  const { rawConnections } = await import('../database/postgres/raw-connection.ts');
  const { open = rawConnections, ...others } = overrides;
  const release = ownVersion();
  const about = { release, fingerprint: fingerprintOf(config, release), lacking: lackingSettings(config).join(' ') };
  return createCluster({ ...parts, ...others, open: open(url), about, handOverRate: config.handOverRate });
}

/** What of it a process that is alone has, without any cost. */
export const SINGLE = {
  count: (): number => 1,
  leads: (): boolean => true,
} as const;
