import type { Test } from 'tap';
import type { DatabaseKind } from '../postgres/databases.ts';
import type { RawDevice } from '../raw-device.ts';
import { startWorld } from '../world.ts';

/** An event as the stream shows it. */
export interface Shown {
  eventId: string;
  type: string;
  sequence: number;
  deviceSequence?: number;
  data: Record<string, unknown>;
}

export interface Page {
  events: Shown[];
  next: number;
  more: boolean;
}

let sent = 0;
/** Publishes an event of a device, and waits until it is stored. Returns the eventId that the device gave it. */
export async function send(link: RawDevice, type = 'custom.sos', data: object = {}): Promise<string> {
  sent += 1;
  const eventId = `e-${sent}`;
  link.publish('events', { eventId, type, occurredAt: '2026-11-20T09:29:59Z', data });
  await link.next('puback');
  return eventId;
}

/** A service with an application, one device of it, and what the tests of the stream do most. */
export async function startStream(
  t: Test,
  { database, nodes = 1, keptDays = 1 }: { database?: DatabaseKind; nodes?: number; keptDays?: number } = {},
) {
  const env = { LAPEL_DELIVERY_RETENTION_DAYS: String(keptDays) };
  const world = await startWorld(t, { nodes, env, insists: true, ...(database && { database }) });
  const tenant = await world.createTenant();
  const device = await world.activatedDevice(tenant);
  await world.idle();
  const events = `${tenant.path}/events`;

  /** Reads a page of the stream. */
  async function page(query = '', api = tenant.api): Promise<Page> {
    const answer = await api.get(`${events}${query}`);
    if (answer.status !== 200) throw new Error(`no page: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  return {
    world,
    tenant,
    device,
    events,
    page,
    latest: async (): Promise<number> => (await page('?from=latest')).next,
    /** How many readers wait at a node. */
    async waiting(node = 0): Promise<number> {
      const { values } = (await world.nodes[node]?.metrics.eventReadersWaiting.get()) ?? { values: [] };
      return values[0]?.value ?? 0;
    },
  };
}
