import { deviceIdFor } from '../fleet/device-ids.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { deriveSeed } from '../random.ts';
import { contractFor, ensureDeveloper, type FleetNames, hardwareProperties, seedOfRun } from './registration.ts';
import { createAdminClient, type Reply } from './service-client.ts';

/** Registers, moves and removes devices of a run by the administration API. */
export interface Enrolment {
  replaceCredential(deviceId: string): Promise<Reply>;
  /** Deletes a device, even if it is activated. */
  remove(deviceId: string): Promise<Reply>;
  /** Registers another device for this index of the process's devices, with a deviceId that the run has not used. */
  register(at: number): Promise<{ account: DeviceAccount; reply: Reply }>;
  /** Moves a device to another developer, who is created if missing. */
  moveAway(deviceId: string): Promise<Reply>;
  moveBack(deviceId: string): Promise<Reply>;
  /** The devices that were registered: deviceId to the index in the whole fleet. */
  readonly registered: ReadonlyMap<string, number>;
}

/** Sets the seeds of these deviceIds apart from those that a run has from the start. */
const LATER = 100;

export function createEnrolment(
  { adminUrl, token }: { adminUrl: string; token: string },
  { developerId, run, seed, places, model = () => 'Simulated camera' }: FleetNames,
): Enrolment {
  const admin = createAdminClient({ baseUrl: adminUrl, token });
  const other = `${developerId}-other`;
  const registered = new Map<string, number>();
  const generations = new Map<number, number>();
  let isOtherThere = false;

  return {
    replaceCredential: (deviceId) => admin('replaceCredential', { deviceId, body: {} }),
    remove: (deviceId) => admin('deleteDevice', { deviceId, query: { force: 'true' } }),

    async register(at) {
      const place = places[at]!;
      const generation = (generations.get(place) ?? 0) + 1;
      generations.set(place, generation);
      const deviceId = deviceIdFor(deriveSeed(seedOfRun(seed, run), LATER, generation), place);
      const body = { deviceId, hardwareProperties: hardwareProperties(place, model(place), run) };
      const reply = await admin('registerDevice', { developerId, body });
      registered.set(deviceId, place);
      return { account: { deviceId, credential: String(reply.body['credential']) }, reply };
    },

    async moveAway(deviceId) {
      if (!isOtherThere) await ensureDeveloper(admin, other, contractFor(places));
      isOtherThere = true;
      return admin('updateDevice', { deviceId, body: { developerId: other } });
    },
    moveBack: (deviceId) => admin('updateDevice', { deviceId, body: { developerId } }),
    registered,
  };
}
