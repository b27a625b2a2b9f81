import type { DeviceAccount } from '../fleet/member.ts';
import { deriveSeed } from '../random.ts';
import { contractFor, ensureDeveloper, type FleetNames, registerDevices, removeDevices } from './registration.ts';
import { type AdminClient, createAdminClient, unexpected } from './service-client.ts';

export interface ApplicationAccess {
  readonly applicationId: string;
  readonly secret: string;
}

/** The devices and the application of a run, with their credentials. */
export interface Provision {
  readonly accounts: readonly DeviceAccount[];
  readonly application: ApplicationAccess;
  /** A device of another developer, which calls of the application must not reach. */
  readonly neighbour: string;
  /**
   * Removes the devices of this run and of earlier runs of the same name, with their transactions, and the application
   * unless it was given. The developer stays, because the service keeps developers.
   */
  clean(): Promise<void>;
}

/** The end of the name of the other developer, and the part of the seed that its device has for itself. */
const NEIGHBOUR = '-neighbour';
/** An id of a developer has at most 64 characters. */
const OWN_PART = 64 - NEIGHBOUR.length;
const NEIGHBOUR_SEED = 0x6e656967;

const nameOf = (run: string | undefined, part: string): string =>
  `Simulated customer${run === undefined ? '' : ` of the run ${run}`}${part}`;

async function findApplication(admin: AdminClient, developerId: string, name: string): Promise<string | undefined> {
  for (let offset = 0; ; offset += 1000) {
    const reply = await admin('listApplications', { developerId, query: { limit: 1000, offset } });
    if (reply.status !== 200) throw unexpected('cannot list applications', reply);
    const applications = reply.body['applications'] as { applicationId: string; name: string }[];
    const found = applications.find((application) => application.name === name);
    if (found || applications.length === 0) return found?.applicationId;
  }
}

/** The application of the run: a new one, or that of an earlier run of the same name, with a new secret. */
async function ensureApplication(admin: AdminClient, developerId: string, name: string): Promise<ApplicationAccess> {
  const applicationId = await findApplication(admin, developerId, name);
  const reply =
    applicationId === undefined
      ? await admin('createApplication', { developerId, body: { name } })
      : await admin('replaceSecret', { applicationId });
  if (reply.status !== 201) throw unexpected(`cannot get an application of developer ${developerId}`, reply);
  return { applicationId: applicationId ?? String(reply.body['applicationId']), secret: String(reply.body['secret']) };
}

/**
 * Registers a device for another developer, which is made for this purpose. It never connects. Processes that share a
 * run have one each.
 */
async function registerNeighbour(
  admin: AdminClient,
  at: { adminUrl: string; token: string },
  { developerId, seed, places, run }: FleetNames,
): Promise<string> {
  const [place = 0] = places;
  const names = {
    developerId: developerId.slice(0, OWN_PART) + NEIGHBOUR,
    run,
    seed: deriveSeed(seed, NEIGHBOUR_SEED),
    places: [place],
  };
  const [account] = await registerDevices(admin, at, names);
  return account!.deviceId;
}

/**
 * Gets everything for a run from the administration API: a developer, devices, and an application unless one is given.
 * `part` distinguishes the applications of several processes of one run. Rejects with a UsageError if a device belongs
 * to another developer or another run.
 */
export async function provision({
  adminUrl,
  token,
  application: given,
  part = '',
  ...names
}: FleetNames & {
  adminUrl: string;
  token: string;
  application?: ApplicationAccess | undefined;
  part?: string;
}): Promise<Provision> {
  const { developerId, run, places } = names;
  const admin = createAdminClient({ baseUrl: adminUrl, token });
  await ensureDeveloper(admin, developerId, contractFor(places));
  const accounts = await registerDevices(admin, { adminUrl, token }, names);
  const neighbour = await registerNeighbour(admin, { adminUrl, token }, names);
  const application = given ?? (await ensureApplication(admin, developerId, nameOf(run, part)));
  return {
    accounts,
    application,
    neighbour,
    async clean() {
      const deviceIds = [...accounts.map(({ deviceId }) => deviceId), neighbour];
      await removeDevices(admin, deviceIds);
      if (given) return;
      const reply = await admin('deleteApplication', { applicationId: application.applicationId });
      if (reply.status !== 204 && reply.status !== 404) throw unexpected('cannot remove the application', reply);
    },
  };
}
