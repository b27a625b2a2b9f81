import { deviceIdFor } from '../fleet/device-ids.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { deriveSeed } from '../random.ts';
import { contractFor, ensureDeveloper, type FleetNames, hardwareProperties, seedOfRun } from './registration.ts';
import { createAdminClient, type Reply, unexpected } from './service-client.ts';

/** Registers, moves and removes devices of a run by the administration API. */
export interface Enrolment {
  replaceCredential(deviceId: string): Promise<Reply>;
  /** Deletes a device, even if it is activated. */
  remove(deviceId: string): Promise<Reply>;
  /** Registers another device for this index of the process's devices, with a deviceId that the run has not used. */
  register(at: number): Promise<{ account: DeviceAccount; reply: Reply }>;
  /** The deviceId of the next device for this index, one that the run has not used. */
  nextDeviceId(at: number): string;
  /** The code of a batch by which devices of this run enrol. */
  batch(): Promise<string>;
  /** One request for enrolment, as a device makes it. The body of the answer has its error code as `lapel-error-code`. */
  askToEnrol(asked: { deviceId: string; code: string; nonce: string }): Promise<Reply>;
  /** Moves a device to another developer, who is created if missing. */
  moveAway(deviceId: string): Promise<Reply>;
  moveBack(deviceId: string): Promise<Reply>;
  /** The devices that were registered: deviceId to the index in the whole fleet. */
  readonly registered: ReadonlyMap<string, number>;
}

/** Sets the seeds of these deviceIds apart from those that a run has from the start. */
const LATER = 100;
/** The batch of a run: how many devices may enrol with its code, and for how long. */
const BATCH_DEVICES = 100_000;
const BATCH_MILLISECONDS = 7 * 24 * 3_600_000;

export function createEnrolment(
  { adminUrl, token, api }: { adminUrl: string; token: string; api: string },
  { developerId, run, seed, places, model = () => 'Simulated camera' }: FleetNames,
): Enrolment {
  const admin = createAdminClient({ baseUrl: adminUrl, token });
  const other = `${developerId}-other`;
  const registered = new Map<string, number>();
  const generations = new Map<number, number>();
  let isOtherThere = false;
  let made: Promise<string> | undefined;

  function nextDeviceId(at: number): string {
    const place = places[at]!;
    const generation = (generations.get(place) ?? 0) + 1;
    generations.set(place, generation);
    const deviceId = deviceIdFor(deriveSeed(seedOfRun(seed, run), LATER, generation), place);
    registered.set(deviceId, place);
    return deviceId;
  }

  async function makeBatch(): Promise<string> {
    const expiresAt = new Date(Date.now() + BATCH_MILLISECONDS).toISOString();
    const body = { name: `simulated, ${run ?? 'no name'}`, mostDevices: BATCH_DEVICES, expiresAt };
    const reply = await admin('createEnrolmentBatch', { developerId, body });
    if (reply.status !== 201) throw unexpected('cannot make an enrolment batch', reply);
    return String(reply.body['code']);
  }

  return {
    replaceCredential: (deviceId) => admin('replaceCredential', { deviceId, body: {} }),
    remove: (deviceId) => admin('deleteDevice', { deviceId, query: { force: 'true' } }),

    async register(at) {
      const place = places[at]!;
      const deviceId = nextDeviceId(at);
      const body = { deviceId, hardwareProperties: hardwareProperties(place, model(place), run) };
      const reply = await admin('registerDevice', { developerId, body });
      return { account: { deviceId, credential: String(reply.body['credential']) }, reply };
    },

    nextDeviceId,
    batch() {
      made ??= makeBatch().catch((error) => {
        made = undefined;
        throw error;
      });
      return made;
    },
    async askToEnrol(asked) {
      const headers = { 'content-type': 'application/json' };
      const answer = await fetch(`${api}/v1/enrolments`, { method: 'POST', headers, body: JSON.stringify(asked) });
      const body = (await answer.json().catch(() => ({}))) as Reply['body'];
      const code = answer.headers.get('lapel-error-code');
      return { status: answer.status, body: { ...body, ...(code !== null && { 'lapel-error-code': code }) } };
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
