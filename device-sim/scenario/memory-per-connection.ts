/** With fewer connections the memory that they leave behind cannot be told from that of other work. */
const ENOUGH_CONNECTIONS = 2000;

interface Weighed {
  /** The connections that this process has made. */
  readonly connections: number;
  /** The number of processes that share the run. Each of them makes as many connections as the others. */
  readonly processes: number;
  /** The bytes that the service keeps more than at first, for the connections of all processes; undefined: not known. */
  readonly kept: number | undefined;
}

/** The memory of the service that each connection has left behind, in bytes; 0 for too few connections. */
export function memoryPerConnection({ connections, processes, kept }: Weighed): number | undefined {
  if (kept === undefined) return undefined;
  const all = connections * processes;
  return all < ENOUGH_CONNECTIONS ? 0 : kept / all;
}
