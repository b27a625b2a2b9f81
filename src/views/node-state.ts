import type { Certificate } from '../platform/entrance/expiry-watch.ts';
import type { Readable } from './service-figures.ts';

/** The part of a node's state that only the node itself knows. */
export interface NodeState {
  version: string;
  /** The result of the check of its database file; null on PostgreSQL. */
  databaseCheck: string | null;
  /** The kinds of rows whose removal is late, with the seconds. */
  late: { kind: string; seconds: number }[];
  certificates: Certificate[];
  disk: { free: number; size: number } | null;
}

interface Parts {
  version: string;
  metrics: { databaseCheck: Readable; retentionBehind: Readable };
  certificates(): Certificate[];
  disk(): Promise<{ free: number; size: number }>;
}

/** Seconds by which the removal of old rows may be late before that is worth a word: a sweep runs every ten minutes. */
const LATE_SECONDS = 86_400;

/** Looks up the state of this node. A disk that does not answer is not part of it. */
export async function stateOfNode({ version, metrics, certificates, disk }: Parts): Promise<NodeState> {
  const [checks, behind, space] = await Promise.all([
    metrics.databaseCheck.get(),
    metrics.retentionBehind.get(),
    disk().catch(() => null),
  ]);
  const current = checks.values.find(({ value }) => value === 1)?.labels as { state: string } | undefined;
  return {
    version,
    databaseCheck: current?.state ?? null,
    late: behind.values
      .filter(({ value }) => value > LATE_SECONDS)
      .map(({ labels, value }) => ({ kind: (labels as { kind: string }).kind, seconds: Math.round(value) })),
    certificates: certificates(),
    disk: space,
  };
}
