import type { Test } from 'tap';
import type { DatabaseKind } from '../postgres/databases.ts';
import { startStream } from '../stream/stream-world.ts';
import { createTestReceiver, type Received, type TestReceiver } from '../webhooks/test-receiver.ts';

/** A value of an answer, of which a test looks at a part. */
// biome-ignore lint/suspicious/noExplicitAny: the answers are checked against their schemas by the client
type Loose = any;

/** The body of a webhook, as far as these tests look at it. */
export interface Got {
  type: string;
  sequence: number;
  deviceSequence?: number;
  data: Record<string, unknown> & { deviceId: string };
}

export const bodyOf = ({ body }: Received): Got => JSON.parse(String(body)) as Got;

/** A service with an application, one device of it, and what the tests of endpoints do most. */
export async function startEndpoints(
  t: Test,
  options: { database?: DatabaseKind; nodes?: number; keptDays?: number } = {},
) {
  const stream = await startStream(t, { keptDays: 30, ...options });
  const { tenant, world, device } = stream;
  const path = `${tenant.path}/endpoints`;

  /** Makes an endpoint with a receiver of its own. */
  async function add(
    json: object = {},
  ): Promise<{ at: string; endpoint: Record<string, Loose>; receiver: TestReceiver }> {
    const receiver = await createTestReceiver(t);
    const answer = await tenant.api.post(path, { json: { url: receiver.url, ...json } });
    if (answer.status !== 201) throw new Error(`no endpoint: ${answer.status} ${JSON.stringify(answer.body)}`);
    return { at: `${path}/${answer.body.endpointId}`, endpoint: answer.body, receiver };
  }

  /**
   * Resolves when all that is due now is done. On a server an event is decided only when the transactions of before have ended,
   * and a reader looks again after a second.
   */
  async function settled(): Promise<void> {
    await world.idle();
    for (let looks = 0; looks < (world.isServer ? 3 : 0); looks += 1) {
      world.clock.advance(1_000);
      await world.idle();
    }
  }

  return {
    ...stream,
    settled,
    /** Lets time pass, in which the access token ends and the device loses its connection. */
    async later(milliseconds: number): Promise<void> {
      await device.link.drop();
      world.clock.advance(milliseconds);
      await settled();
      await tenant.renew();
      Object.assign(device, { link: await world.connect(device) });
      await settled();
    },
    path,
    add,
    /** Activates another device. */
    async another() {
      await settled();
      tenant.receiver.forget();
      return world.activatedDevice(tenant);
    },
    /** The events that a receiver has got, when all is done. */
    async got(receiver: TestReceiver): Promise<Got[]> {
      await settled();
      return receiver.requests.map(bodyOf);
    },
    /** The rows of the deliveries to an endpoint, the oldest first. */
    deliveries: async (at: string): Promise<Record<string, Loose>[]> =>
      (await tenant.api.get(`${at}/deliveries?limit=1000`)).body.deliveries.toReversed(),
  };
}
