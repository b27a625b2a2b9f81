import type { Config } from '../config.ts';
import { ownVersion } from '../version.ts';
import { createCluster } from './cluster.ts';
import { fingerprintOf, lackingSettings } from './fingerprint.ts';

type Parts = Omit<Parameters<typeof createCluster>[0], 'open' | 'about'>;

/** The cluster of a PostgreSQL database, of which a process can be the only one. Its client is loaded only where it is. */
export async function openCluster(url: string, config: Config, parts: Parts) {
  const { rawConnections } = await import('../database/postgres/raw-connection.ts');
  const release = ownVersion();
  const about = { release, fingerprint: fingerprintOf(config, release), lacking: lackingSettings(config).join(' ') };
  return createCluster({ ...parts, open: rawConnections(url), about });
}

/** What of it a process that is alone has, without any cost. */
export const SINGLE = {
  count: (): number => 1,
  leads: (): boolean => true,
} as const;
