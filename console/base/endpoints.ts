import { operation, read, readSeen, type Seen } from './requests.ts';
import type { Endpoint, EndpointDelivery, EndpointList } from './rows.ts';
import { fromServiceTime } from './service-time.ts';

/** An endpoint with its times in UTC; the API sends local times of the service. */
const inUtc = (endpoint: Endpoint): Endpoint => ({
  ...endpoint,
  failingSince: fromServiceTime(endpoint.failingSince),
  secretReplacedAt: fromServiceTime(endpoint.secretReplacedAt),
  replay: endpoint.replay && { ...endpoint.replay, startedAt: fromServiceTime(endpoint.replay.startedAt)! },
  createdAt: fromServiceTime(endpoint.createdAt)!,
  updatedAt: fromServiceTime(endpoint.updatedAt)!,
});

/** Reads all places to which events of the application are sent. */
export async function readEndpoints(signal: AbortSignal): Promise<EndpointList> {
  const list = await read<EndpointList>(operation('listEndpoints'), { signal });
  return { ...list, endpoints: list.endpoints.map(inUtc) };
}

/** Reads an endpoint, with the tag of its state. */
export async function readEndpoint(endpointId: string, signal?: AbortSignal): Promise<Seen<Endpoint>> {
  const { value, tag } = await readSeen<Endpoint>(operation('readEndpoint', { endpointId }), { signal });
  return { value: inUtc(value), tag };
}

/** A page of deliveries to an endpoint. */
interface Deliveries {
  rows: EndpointDelivery[];
  /** The number of the event before which the next page begins; null on the last page. */
  next: number | null;
}

/** The most requests for one page: the service looks at a bounded number of rows for each, so an answer can be short. */
const MOST_READS = 10;

/** Reads deliveries to an endpoint, the newest event first. */
export async function readEndpointDeliveries(
  endpointId: string,
  { limit, before, ...filter }: { limit: number; before?: number | undefined; status?: string; deviceId?: string },
  signal?: AbortSignal,
): Promise<Deliveries> {
  const rows: EndpointDelivery[] = [];
  let next: number | null = before ?? null;
  for (let reads = 0; reads < MOST_READS; reads += 1) {
    const query = { ...filter, limit: limit - rows.length, before: next ?? undefined };
    const request = operation('listEndpointDeliveries', { endpointId });
    const page = await read<{ deliveries: EndpointDelivery[]; next: number | null }>(request, { query, signal });
    rows.push(...page.deliveries);
    next = page.next;
    if (next === null || rows.length >= limit) break;
  }
  return {
    rows: rows.map((row) => ({
      ...row,
      nextAttemptAt: fromServiceTime(row.nextAttemptAt),
      createdAt: fromServiceTime(row.createdAt)!,
      updatedAt: fromServiceTime(row.updatedAt)!,
    })),
    next,
  };
}
