/** The most requests of a connection whose correlation data is kept, and the most bytes of it. */
const MOST = { requests: 64, bytes: 64 * 1024 };

function requestIdOf(json: Buffer | string): string | undefined {
  try {
    const message: unknown = JSON.parse(json.toString());
    const id = (message as { requestId?: unknown } | null)?.requestId;
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined; // a request that is not JSON has no response either
  }
}

/**
 * Keeps the correlation data of requests of a connection until their responses. Those that have waited longest are forgotten
 * first; a response on a later connection has none, and is found by its requestId.
 */
export function createCorrelations() {
  const kept = new Map<string, Buffer>();
  let bytes = 0;

  function forget(requestId: string): Buffer | undefined {
    const data = kept.get(requestId);
    kept.delete(requestId);
    bytes -= data?.length ?? 0;
    return data;
  }

  return {
    /** Called with a request that has correlation data. */
    keep(request: Buffer, data: Buffer): void {
      const requestId = requestIdOf(request);
      if (requestId === undefined) return;
      forget(requestId);
      kept.set(requestId, Buffer.from(data)); // a copy: the data is a view of a chunk of the connection
      bytes += data.length;
      for (const oldest of kept.keys()) {
        if (kept.size <= MOST.requests && bytes <= MOST.bytes) break;
        forget(oldest);
      }
    },

    /** The correlation data for a response; undefined when there is none. */
    of(response: string): Buffer | undefined {
      const requestId = kept.size === 0 ? undefined : requestIdOf(response);
      return requestId === undefined ? undefined : forget(requestId);
    },
  };
}
