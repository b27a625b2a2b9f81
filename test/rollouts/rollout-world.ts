import type { RolloutCreate, RolloutDetails } from '@lapel/schemas/contracts/types';
import type { Test } from 'tap';
import { startWorld, type World } from '../world.ts';

type Device = Awaited<ReturnType<Awaited<ReturnType<typeof startWorld>>['activatedDevice']>>;
export type Link = Device['link'];
type Command = Awaited<ReturnType<Device['link']['command']>>;

export const LANG = { operation: 'setLanguage', parameters: { lang: 'ja' }, devices: {} } as const;

/** Lets time go by, in which the service does what is due. */
export async function pass({ clock, idle }: World, milliseconds: number, step = 10_000): Promise<void> {
  for (let left = milliseconds; left > 0; left -= step) {
    clock.advance(Math.min(left, step));
    await idle();
  }
}

/** A device sends something. */
export async function speak(link: Link, report: object = { lang: 'ja' }): Promise<void> {
  link.publish('status', report);
  await link.next('puback');
}

/** The world with an application and activated devices, for tests of rollouts. */
export async function startRollouts(t: Test, count: number, options: Parameters<typeof startWorld>[1] = {}) {
  const world = await startWorld(t, options);
  const tenant = await world.createTenant('dev', { deviceLimit: Math.max(count, 100) });
  const devices: Device[] = [];
  while (devices.length < count) devices.push(await world.activatedDevice(tenant));
  const byId = new Map(devices.map((device) => [device.deviceId, device]));

  const taken = new Set<number>();
  const read = async (rolloutId: string): Promise<RolloutDetails> => {
    const answer = await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}`);
    t.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body;
  };

  /** The devices of a rollout; those in a state in the order in which they are served. */
  async function members(rolloutId: string, query = '') {
    const { body } = await tenant.api.get(`${tenant.path}/rollouts/${rolloutId}/devices?${query}`);
    return body.devices as { deviceId: string; state: string; transactionId: number; code: string; stage: number }[];
  }

  return {
    world,
    tenant,
    devices,
    device: (deviceId: string): Device => byId.get(deviceId) as Device,
    read,

    /** Starts a rollout and waits until nothing more can be done. */
    async start(more: Partial<RolloutCreate> | object = {}): Promise<string> {
      const answer = await tenant.api.post(`${tenant.path}/rollouts`, { json: { ...LANG, ...more } });
      t.equal(answer.status, 201, JSON.stringify(answer.body));
      await world.idle();
      return answer.body.rolloutId;
    },

    /** Calls an action of a rollout. */
    act: (rolloutId: string, action: string, json?: object) =>
      tenant.api.post(`${tenant.path}/rollouts/${rolloutId}/${action}`, json === undefined ? {} : { json }),

    members,

    /**
     * Takes the commands that have been published since the last call, by device. Each gets its PUBACK, unless the device
     * is `silent`.
     */
    async commands({ silent = false } = {}): Promise<Map<string, Command>> {
      await world.idle();
      const found = new Map<string, Command>();
      const { body } = await tenant.api.get(`${tenant.path}/transactions?unfinished=true&limit=1000`);
      for (const { transactionId, deviceId, attempts } of body.transactions) {
        if (attempts === 0 || taken.has(transactionId)) continue;
        taken.add(transactionId);
        const { link } = byId.get(deviceId) as Device;
        const command = await link.command();
        if (!silent) link.puback(command.packet);
        found.set(deviceId, command);
      }
      await world.idle();
      return found;
    },

    /** Answers a command. */
    async answer(deviceId: string, command: Command, error?: string): Promise<void> {
      const { link } = byId.get(deviceId) as Device;
      const { transactionId } = command;
      await link.ack(
        error === undefined
          ? { transactionId, status: 'succeeded' }
          : { transactionId, status: 'failed', error: { code: error, message: 'x' } },
      );
      await world.idle();
    },

    /** The webhooks of rollouts so far, by type and reason. */
    async events(): Promise<string[]> {
      await world.idle();
      return tenant.receiver.requests
        .map(({ body }) => JSON.parse(body.toString()))
        .filter(({ type }) => type.startsWith('rollout.'))
        .map(({ type, data }) =>
          [type.slice('rollout.'.length), data.stage, data.reason].filter((x) => x != null).join(' '),
        );
    },

    /** Compares the counts of a rollout with its rows. */
    async checkCounts(t: Test, rolloutId: string): Promise<void> {
      const rows = new Map<string, number>();
      for (const { state, stage } of await members(rolloutId, 'limit=1000'))
        rows.set(`${stage} ${state}`, (rows.get(`${stage} ${state}`) ?? 0) + 1);
      const { stages } = await read(rolloutId);
      const counted = stages.flatMap(({ counts }, index) =>
        Object.entries(counts)
          .filter(([, devices]) => devices !== 0)
          .map(([state, devices]): [string, number] => [`${index + 1} ${state}`, devices]),
      );
      const sorted = (entries: Iterable<[string, number]>) => Object.fromEntries(entries);
      t.same(sorted(counted), sorted(rows), 'the counts are those of the rows');
    },
  };
}
