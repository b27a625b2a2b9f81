import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { NO_POSTGRES } from '../postgres/databases.ts';
import { createTestReceiver } from '../webhooks/test-receiver.ts';
import { startWorld, WIFI } from '../world.ts';

const HOUR = 3_600_000;
export const DATABASES = ['sqlite', ...(NO_POSTGRES ? [] : (['postgres'] as const))] as const;

/** A device whose commands are told to the URL of a setting and to an ordered endpoint; each has got one webhook. */
export async function startLives(t: Test, database: (typeof DATABASES)[number]) {
  const world = await startWorld(t, { database });
  const { clock, dataDir, databaseUrl } = world;
  const tenant = await world.createTenant();
  const receiver = await createTestReceiver(t);
  const json = { url: receiver.url, ordered: 'device', types: ['transaction.*'] };
  const made = await tenant.api.post(`${tenant.path}/endpoints`, { json });
  t.equal(made.status, 201);
  const deliveries = `${tenant.path}/endpoints/${made.body.endpointId}/deliveries`;
  const device = await world.activatedDevice(tenant);
  let life = world;

  /** Lets time pass until the setting and the endpoint have got so many requests. */
  async function sent(...wanted: [ofSetting: number, ofEndpoint: number]): Promise<void> {
    const counts = (): number[] => [tenant.receiver.requests.length, receiver.requests.length];
    for (let looks = 0; looks < 40 && counts().some((count, place) => count < wanted[place]!); looks += 1) {
      clock.advance(500);
      await life.idle();
    }
    t.same(counts(), wanted);
  }

  /**
   * The service ends, as a kill would end it, and begins again with a clock that is `hours` ahead of the right one: 0 after a
   * life that was ahead, -1 after one that was right.
   */
  async function begin(hours: -1 | 0 | 1, env: Record<string, string> = {}): Promise<void> {
    await life.service[Symbol.asyncDispose]();
    rmSync(join(dataDir, 'seen-time'), { force: true }); // a kill would not have written it
    if (hours === 1) clock.leap(HOUR);
    else clock.set(-HOUR);
    const ofDatabase = databaseUrl === null ? {} : { LAPEL_DATABASE_URL: databaseUrl };
    life = await startWorld(t, { dataDir, database, clock, env: { ...ofDatabase, ...env } });
  }

  async function pass(seconds: number): Promise<void> {
    for (let left = seconds; left > 0; left -= 10) {
      clock.advance(Math.min(left, 10) * 1_000);
      await life.idle();
    }
  }

  async function succeed(commands: number): Promise<void> {
    const api = await life.clientOf(tenant.applicationId, tenant.secret);
    const link = await life.connect(device);
    for (let made = 0; made < commands; made += 1) {
      t.equal((await api.put(`${device.path}/settings/wifi`, { json: WIFI })).status, 201);
      const { transactionId } = await link.command();
      await link.ack({ transactionId, status: 'succeeded' });
    }
  }

  /** Gives up the first delivery of the endpoint that waits, so that the next one of its device is let go. */
  async function skip(): Promise<void> {
    const api = await life.clientOf(tenant.applicationId, tenant.secret);
    const { body } = await api.get(`${deliveries}?status=pending`);
    t.equal((await api.post(`${deliveries}/${body.deliveries[0].sequence}/skip`)).status, 204);
  }

  await sent(1, 1);
  return {
    tenant,
    device,
    receiver,
    ofSetting: tenant.receiver,
    sent,
    begin,
    succeed,
    skip,
    pass,
    /** The clock is put right after a start with one that was behind. */
    putRight: () => clock.set(HOUR),
    api: () => life.clientOf(tenant.applicationId, tenant.secret),
    connect: () => life.connect(device),
    idle: () => life.idle(),
  };
}
