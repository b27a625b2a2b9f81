import type { Metrics } from '../metrics.ts';

/** Bytes of bodies that have come in part. */
const BODY_BYTES = { perSource: 16 * 1024 ** 2, total: 64 * 1024 ** 2 };

export type BodyBytes = ReturnType<typeof createBodyBytes>;

/** The memory of bodies that are still coming, bounded for each source (an application, an address) first, and for all. */
export function createBodyBytes({ metrics }: { metrics: Pick<Metrics, 'httpRefused'> }) {
  const { perSource, total } = BODY_BYTES;
  const held = new Map<string, number>();
  let all = 0;

  function refuse(bound: 'source' | 'all'): 'source' | 'all' {
    metrics.httpRefused.inc({ bound: bound === 'all' ? 'body_bytes' : 'body_bytes_of_source' });
    return bound;
  }

  return {
    /** Takes bytes for a source; the bound that is in the way, or undefined. */
    take(source: string, bytes: number): 'source' | 'all' | undefined {
      const own = (held.get(source) ?? 0) + bytes;
      if (own > perSource) return refuse('source');
      if (all + bytes > total) return refuse('all');
      held.set(source, own);
      all += bytes;
      return undefined;
    },
    giveBack(source: string, bytes: number): void {
      if (bytes === 0) return;
      const left = (held.get(source) ?? 0) - bytes;
      if (left > 0) held.set(source, left);
      else held.delete(source);
      all -= bytes;
    },
  };
}
