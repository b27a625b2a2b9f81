import type { Metrics } from '../../metrics.ts';
import { createCounts } from '../../runtime/counts.ts';

/** The most bytes in memory of request bodies that are still arriving: of one source, and of all sources. */
const BODY_BYTES = { perSource: 16 * 1024 ** 2, total: 64 * 1024 ** 2 };

export type BodyBytes = ReturnType<typeof createBodyBytes>;

/** The sender of a body: `source` is the application, or the address of a caller without one. */
export interface BodySource {
  source: string;
  developer?: string | undefined;
}

/**
 * Bounds the memory of request bodies that are still arriving, for each source (an application, or an address) and for
 * all sources together. All applications of a developer together may exceed the bound of one source only while at least
 * as much memory as they use stays free for other developers.
 */
export function createBodyBytes({ metrics }: { metrics: Pick<Metrics, 'httpRefused'> }) {
  const { perSource, total } = BODY_BYTES;
  const held = createCounts();
  let all = 0;

  function refuse(bound: 'source' | 'all'): 'source' | 'all' {
    metrics.httpRefused.inc({ bound: bound === 'all' ? 'body_bytes' : 'body_bytes_of_source' });
    return bound;
  }

  return {
    /**
     * Reserves bytes for a source. Returns undefined, or the bound that would be exceeded: of the source, or of all
     * sources.
     */
    take({ source, developer }: BodySource, bytes: number): 'source' | 'all' | undefined {
      const own = held.of(source) + bytes;
      const key = developer === undefined ? undefined : `developer ${developer}`;
      const ofDeveloper = key === undefined ? own : held.of(key) + bytes;
      if (own > perSource || (ofDeveloper > perSource && ofDeveloper > total - all)) return refuse('source');
      if (all + bytes > total) return refuse('all');
      held.add(source, bytes);
      if (key !== undefined) held.add(key, bytes);
      all += bytes;
      return undefined;
    },
    giveBack({ source, developer }: BodySource, bytes: number): void {
      if (bytes === 0) return;
      held.add(source, -bytes);
      if (developer !== undefined) held.add(`developer ${developer}`, -bytes);
      all -= bytes;
    },
  };
}
