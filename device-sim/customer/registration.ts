import { adminRequest } from '@lapel/client/admin-request';
import { deviceIdFor } from '../fleet/device-ids.ts';
import type { DeviceAccount } from '../fleet/member.ts';
import { deriveSeed } from '../random.ts';
import { UsageError } from '../usage-error.ts';
import { hasCertificate } from './certificates.ts';
import { type EnrolmentCode, enrolByCode } from './enrol-by-code.ts';
import { type AdminClient, inParallel, sendLines, unexpected } from './service-client.ts';

const PARALLEL_REQUESTS = 16;
/** The most devices in one import request, so that a lost answer concerns no more devices. */
const IMPORT_LINES = 5000;

/** A fleet of devices that belong to one run. */
export interface FleetNames {
  readonly developerId: string;
  /** The name of the run; devices of other runs are never touched. */
  readonly run: string | undefined;
  readonly seed: number;
  /** The indexes of the devices in the whole fleet, from 0. Processes that share a fleet have different indexes. */
  readonly places: readonly number[];
  /** Set when new devices enrol by the code of a batch, instead of being registered. */
  readonly enrol?: EnrolmentCode | undefined;
  /** The model name in the hardware properties of the device with this index. */
  readonly model?: ((place: number) => string) | undefined;
}

/**
 * The seed of the deviceIds. The name of the run changes it, so runs with different names have different devices, and a
 * later run with the same name and seed finds its devices again.
 */
export const seedOfRun = (seed: number, run: string | undefined): number =>
  run === undefined ? seed : deriveSeed(seed, ...Buffer.from(run));

/**
 * The device limit of the developer's contract: room for all devices of the fleet, including those of other processes.
 */
export const contractFor = (places: readonly number[]): number =>
  places.reduce((most, place) => Math.max(most, place + 1), 1_000_000);

const mac = (first: string, index: number): string =>
  [first, '00', '00', ...(index + 0x1000000).toString(16).slice(-6).match(/../g)!].join(':').toUpperCase();

/** The description in a device's hardware properties. A run recognises its own devices by it. */
const markOf = (run: string | undefined): string =>
  run === undefined ? 'A simulated wearable camera' : `A simulated wearable camera of the run ${run}`;

/** The hardware properties of a simulated camera (op 9), as a developer would enter them for a real one. */
export const hardwareProperties = (place: number, name: string, run: string | undefined) => ({
  model: { name, identifier: 'SIM-1', description: markOf(run), shape: 'neckband' },
  camera: [{ direction: 'front', mountedPosition: 'chest', resolution: { maxWidth: 3840, maxHeight: 2160 } }],
  macAddressWifi: mac('02', place),
  macAddressBluetooth: mac('06', place),
});

/** Creates the developer, with a contract for the devices, if it does not exist. */
export async function ensureDeveloper(admin: AdminClient, developerId: string, deviceLimit: number): Promise<void> {
  const found = await admin('readDeveloper', { developerId });
  if (found.status === 200) return;
  if (found.status === 401) throw unexpected('the service refuses the administrator token', found);
  const created = await admin('createDeveloper', { body: { developerId, name: 'Simulated fleet', deviceLimit } });
  // 409: another simulator created the developer at the same moment.
  if (created.status !== 201 && created.status !== 409)
    throw unexpected(`cannot create developer ${developerId}`, created);
}

/** Rejects with a UsageError if the run may not use the device. */
async function refuseOthers(
  admin: AdminClient,
  deviceId: string,
  { developerId, run, enrol }: FleetNames,
): Promise<void> {
  const found = await admin('readDevice', { deviceId });
  if (found.status === 404 && enrol)
    throw new UsageError('--enrol', `the service refuses to enrol device ${deviceId}; its audit log has the reason`);
  if (found.status !== 200) throw unexpected(`cannot read device ${deviceId}`, found);
  const { developerId: owner, hardwareProperties: properties } = found.body;
  const advice = 'it was not changed; use another --run or --seed';
  if (owner !== developerId) {
    throw new UsageError(
      '--run',
      `device ${deviceId} exists already and belongs to developer ${String(owner)}: ${advice}`,
    );
  }
  const mark = (properties as { model?: { description?: string } } | null)?.model?.description;
  if (mark === markOf(run)) return;
  const whose = mark?.startsWith(`${markOf(undefined)} of the run `)
    ? `the run ${mark.split(' ').at(-1)}`
    : 'no run of this name';
  throw new UsageError('--run', `device ${deviceId} exists already and belongs to ${whose}: ${advice}`);
}

/** Registers the devices that do not exist yet. Resolves to their credentials by deviceId. */
async function importAbsent(
  { adminUrl, token }: { adminUrl: string; token: string },
  names: FleetNames,
  devices: readonly { deviceId: string; place: number }[],
): Promise<Map<string, string>> {
  const { developerId, run, model = () => 'Simulated camera' } = names;
  const credentials = new Map<string, string>();
  for (let at = 0; at < devices.length; at += IMPORT_LINES) {
    const some = devices.slice(at, at + IMPORT_LINES);
    const lines = some.map(({ deviceId, place }) => ({
      deviceId,
      hardwareProperties: hardwareProperties(place, model(place), run),
    }));
    const { path } = adminRequest('importDevices', { developerId });
    for (const { deviceId, credential } of await sendLines(adminUrl + path, token, lines)) {
      if (typeof deviceId === 'string' && typeof credential === 'string') credentials.set(deviceId, credential);
    }
  }
  return credentials;
}

/** Enrols the devices that do not exist yet. Resolves to their credentials by deviceId. */
async function enrolAbsent(
  admin: AdminClient,
  names: FleetNames & { enrol: EnrolmentCode },
  devices: readonly { deviceId: string; place: number }[],
): Promise<Map<string, string>> {
  const { developerId, enrol, run, model = () => 'Simulated camera' } = names;
  const { certificates } = enrol;
  const deviceIds = devices
    .map(({ deviceId }) => deviceId)
    .filter((deviceId) => certificates === undefined || !hasCertificate(certificates, deviceId));
  const credentials = await enrolByCode(enrol, deviceIds);
  const enrolled = devices.filter(({ deviceId }) => credentials.has(deviceId));
  await inParallel(enrolled, PARALLEL_REQUESTS, async ({ deviceId, place }) => {
    const body = { hardwareProperties: hardwareProperties(place, model(place), run) };
    const reply = await admin('updateDevice', { deviceId, body });
    if (reply.status !== 200) throw unexpected(`cannot mark device ${deviceId}`, reply);
    const owner = String(reply.body['developerId']);
    if (owner !== developerId)
      throw new UsageError('--enrol', `is the code of developer ${owner}; use --developer ${owner}`);
  });
  return credentials;
}

/**
 * Registers the devices of a run for a developer through the administration API (contract, section 5). A missing
 * developer is created, with a contract for the devices. Devices of an earlier run of the same name get new
 * credentials. If a device belongs to another developer or another run, rejects with a UsageError and changes nothing.
 */
export async function registerDevices(
  admin: AdminClient,
  at: { adminUrl: string; token: string },
  names: FleetNames,
): Promise<DeviceAccount[]> {
  const { developerId, run, seed, places } = names;
  await ensureDeveloper(admin, developerId, contractFor(places));
  const own = seedOfRun(seed, run);
  const devices = places.map((place) => ({ deviceId: deviceIdFor(own, place), place }));
  const { enrol } = names;
  const credentials = enrol
    ? await enrolAbsent(admin, { ...names, enrol }, devices)
    : await importAbsent(at, names, devices);
  const known = devices.filter(({ deviceId }) => !credentials.has(deviceId));
  try {
    // An import gives known devices new credentials, so all of them are checked before the first import.
    await inParallel(known, PARALLEL_REQUESTS, ({ deviceId }) => refuseOthers(admin, deviceId, names));
  } catch (error) {
    await removeDevices(admin, [...credentials.keys()]);
    throw error;
  }
  const { certificates } = enrol ?? {};
  await inParallel(known, PARALLEL_REQUESTS, async ({ deviceId }) => {
    // Another credential would end the certificate that the device has from an earlier run.
    if (certificates !== undefined && hasCertificate(certificates, deviceId)) return;
    const reply = await admin('replaceCredential', { deviceId, body: {} });
    if (reply.status !== 201) throw unexpected(`cannot get a credential for device ${deviceId}`, reply);
    credentials.set(deviceId, String(reply.body['credential']));
  });
  return devices.map(({ deviceId }) => ({ deviceId, credential: credentials.get(deviceId) ?? '' }));
}

/** Removes devices with all their data. A device that is gone already is no error. */
export async function removeDevices(admin: AdminClient, deviceIds: readonly string[]): Promise<void> {
  await inParallel(deviceIds, PARALLEL_REQUESTS, async (deviceId) => {
    const reply = await admin('deleteDevice', { deviceId, query: { force: 'true' } });
    if (reply.status !== 204 && reply.status !== 404) throw unexpected(`cannot remove device ${deviceId}`, reply);
  });
}
