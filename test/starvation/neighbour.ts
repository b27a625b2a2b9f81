import type { Test } from 'tap';
import { type Tenant, transactionIdOf, type World } from '../world.ts';

const LOOPS = 20;

/** The value at a share of the sorted values. */
const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor((values.length * share) / 100))] ?? 0;

/**
 * Another tenant with a device, which works normally during an attack on the service: calls of the API, commands to its
 * device, results as webhooks. None of them may fail. The duration of its calls is printed as a comment, never
 * asserted.
 */
export async function createNeighbour(t: Test, world: World, name = 'neighbour') {
  const tenant: Tenant = await world.createTenant(name);
  const device = await world.activatedDevice(tenant);
  const calls: number[] = [];
  const rings: number[] = [];

  /** One call, its command on the device, and the webhook of its result. */
  async function ring(index: number): Promise<void> {
    const startedAt = performance.now();
    const answer = await tenant.api.put(`${device.path}/settings/lang`, { json: { lang: index % 2 ? 'ja' : 'en' } });
    calls.push(performance.now() - startedAt);
    if (answer.status !== 201) throw new Error(`${name} was answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    const command = await device.link.command();
    device.link.puback(command.packet);
    await device.link.ack({ transactionId: command.transactionId, status: 'succeeded' });
    const { type, data } = await tenant.event();
    const told = data.transaction['transactionId'];
    if (type !== 'transaction.succeeded' || told !== transactionIdOf(answer))
      throw new Error(`${name} was told ${type}`);
    rings.push(performance.now() - startedAt);
  }

  return {
    tenant,
    device,
    /** Runs the loop so many times, one after the other. Rejects when the service refuses a part of it. */
    async works(during: string, loops = LOOPS): Promise<void> {
      calls.length = 0;
      rings.length = 0;
      for (let index = 0; index < loops; index += 1) await ring(index);
      const figures = [calls, rings].map((values) => {
        const [p50, p99] = [50, 99].map((share) => percentile(values, share).toFixed(0));
        return `p50 ${p50} ms, p99 ${p99} ms`;
      });
      t.comment(`${during}: calls ${figures[0]}; to the webhook ${figures[1]}`);
      t.pass(`${name} works: ${during}`);
    },
  };
}
