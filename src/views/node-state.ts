import type { Certificate } from '../platform/entrance/expiry-watch.ts';
import type { Readiness } from '../runtime/readiness.ts';
import type { Sign } from './conditions/signs.ts';
import type { Readable } from './service-figures.ts';

/** A part of a node that cannot do its work, or that a person must look at, with the reason. */
export interface FailingPart {
  part: string;
  reason: string;
}

/** The part of a node's state that only the node itself knows. */
export interface NodeState {
  version: string;
  /** The result of the check of its database file; null on PostgreSQL. */
  databaseCheck: string | null;
  /** The kinds of rows whose removal is late, with the seconds. */
  late: { kind: string; seconds: number }[];
  certificates: Certificate[];
  disk: { free: number; size: number } | null;
  /** The conditions that the node finds in its own figures. */
  signs: readonly Sign[];
  /** Its failing parts, as its `/readyz` has them. */
  parts: readonly FailingPart[];
}

interface Parts {
  version: string;
  metrics: { databaseCheck: Readable; retentionBehind: Readable };
  certificates(): Certificate[];
  disk(): Promise<{ free: number; size: number }>;
  signs(): Promise<readonly Sign[]>;
  parts: readonly FailingPart[];
}

/** Seconds by which the removal of old rows may be late before that is worth a word: a sweep runs every ten minutes. */
const LATE_SECONDS = 86_400;

/** The failing parts of this node. That it starts or stops is for its balancer only, and then explains all others. */
export async function failingParts(readiness: Pick<Readiness, 'problems' | 'notes'>): Promise<FailingPart[]> {
  const problems = await readiness.problems();
  return problems.some(({ part }) => part === 'service') ? [] : [...problems, ...readiness.notes()];
}

/** Looks up the state of this node. A disk that does not answer is not part of it. */
export async function stateOfNode({ version, metrics, certificates, disk, signs, parts }: Parts): Promise<NodeState> {
  const [checks, behind, space, found] = await Promise.all([
    metrics.databaseCheck.get(),
    metrics.retentionBehind.get(),
    disk().catch(() => null),
    signs(),
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
    signs: found,
    parts,
  };
}
