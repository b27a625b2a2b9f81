import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import type { LapelClient } from '@lapel/client/lapel-client';
import { LapelError } from '@lapel/client/lapel-error';
import { MANIFEST, makeDocument, makeZip } from '../files/make-apk.ts';
import type { Release } from './action.ts';
import { createAdminClient, unexpected } from './service-client.ts';

/** Bytes of a generated file. */
const SIZE = 20_000;
const FIRMWARE = 'com.lapel.firmware';

export interface Version {
  readonly package: string;
  readonly version: string;
}

/** A version that this run has brought to the service. */
export interface Brought extends Version {
  readonly kind: 'software' | 'firmware';
}

/** The operations whose commands have the URL of a file. */
const KINDS: Readonly<Record<string, Brought['kind']>> = { installSoftware: 'software', updateFirmware: 'firmware' };

/** Brings releases to the service. Each version is uploaded once, however many actions install it. */
export interface Releases {
  /** Uploads an application package and starts its distribution. */
  software(release: Release): Promise<Version>;
  /**
   * Uploads a firmware version and adds it to the service's list of firmware. Rejects without access to administration.
   */
  firmware(release: Release): Promise<Version>;
  /** The version in a command, if this run has brought it. */
  broughtBy(operation: string, parameters: Readonly<Record<string, unknown>>): Brought | undefined;
  /**
   * Asks the service whether the version is still distributed or, as firmware, still listed. True if it does not answer.
   */
  isOffered(brought: Brought): Promise<boolean>;
  /** Stops the distribution of the uploaded software, and removes it. */
  clean(): Promise<void>;
}

/** 1.2.3 is 1,002,003: a later version has a higher code. */
export const versionCodeOf = (version: string): number =>
  version
    .split(/\D+/)
    .filter(Boolean)
    .slice(0, 3)
    .concat('0', '0')
    .slice(0, 3)
    .reduce((code, part) => code * 1000 + Math.min(999, Number(part)), 0);

/** An APK of the wanted size, with the package and version that the release prescribes. */
export function makeRelease({ package: name, version }: Version, { says = {}, size = SIZE }: Release): Buffer {
  const attributes = [
    { name: 'package', value: says.package ?? name },
    { name: 'versionCode', value: says.versionCode ?? versionCodeOf(says.version ?? version) },
    { name: 'versionName', value: says.version ?? version },
  ];
  const made = (padding: number): Buffer =>
    makeZip([
      { name: MANIFEST, bytes: makeDocument({ attributes }) },
      { name: 'assets/padding', bytes: Buffer.alloc(padding), stored: true },
    ]);
  return made(Math.max(0, size - made(0).length));
}

/** A file of the size of the release, with different content for each version. */
const makeFirmware = (version: string, size: number): Buffer => Buffer.alloc(size, `firmware ${version} `);

async function put(url: string, file: Buffer): Promise<void> {
  const { ok, status } = await fetch(url, { method: 'PUT', body: new Uint8Array(file) });
  if (!ok) throw new Error(`the object store refuses the file: ${status}`);
}

export function createReleases({
  lapel,
  applicationId,
  admin,
}: {
  lapel: LapelClient;
  applicationId: string;
  /** Access to administration, because firmware belongs to the service. */
  admin?: { url: string; token: string } | undefined;
}): Releases {
  // Package names are unique over all developers of a service, so this one contains a hash of the applicationId.
  const ownPackage = `com.simulated.p${crc32(applicationId).toString(36)}`;
  const keyOf = (one: Brought): string => `${one.kind} ${one.package} ${one.version}`;
  const brought = new Map<string, { version: Version; done: Promise<void> }>();

  /**
   * Shares one upload of a version between all callers: the first caller uploads it, the others wait for that. After a
   * failure the next caller uploads it again.
   */
  async function once(kind: Brought['kind'], version: Version, bring: () => Promise<void>): Promise<Version> {
    const key = keyOf({ kind, ...version });
    const entry = brought.get(key) ?? { version, done: bring() };
    brought.set(key, entry);
    try {
      await entry.done;
    } catch (error) {
      if (brought.get(key) === entry) brought.delete(key);
      throw error;
    }
    return version;
  }

  async function distribute(version: Version, release: Release): Promise<void> {
    const file = release.file === undefined ? makeRelease(version, release) : readFileSync(release.file);
    const { urlList } = await lapel.uploadApp({ body: { ...version, fileSize: file.length } });
    await put(urlList[0]?.uploadUrl ?? '', file);
    try {
      await lapel.startDistribution(version);
    } catch (error) {
      // The distribution of the version was already started by an earlier run, or by another process of this run.
      if (!(error instanceof LapelError) || error.code !== 'DISTRIBUTION_STARTED') throw error;
    }
  }

  async function list(version: Version, release: Release): Promise<void> {
    if (!admin) throw new Error('firmware belongs to the service, so access to administration is needed');
    const file =
      release.file === undefined ? makeFirmware(version.version, release.size ?? SIZE) : readFileSync(release.file);
    const request = createAdminClient({ baseUrl: admin.url, token: admin.token });
    const made = await request('putFirmware', { ...version, body: {} });
    if (made.status !== 200) throw unexpected(`cannot list firmware ${version.version}`, made);
    const ticket = await request('issueFirmwareUrl', version);
    if (ticket.status !== 200) throw unexpected(`cannot upload firmware ${version.version}`, ticket);
    const [{ uploadUrl } = { uploadUrl: '' }] = ticket.body['urlList'] as { uploadUrl: string }[];
    await put(uploadUrl, file);
  }

  return {
    software(release) {
      const version = { package: release.package ?? ownPackage, version: release.version };
      return once('software', version, () => distribute(version, release));
    },
    firmware(release) {
      const version = { package: release.package ?? FIRMWARE, version: release.version };
      return once('firmware', version, () => list(version, release));
    },
    broughtBy(operation, parameters) {
      const kind = KINDS[operation];
      if (kind === undefined) return undefined;
      const one = { kind, package: String(parameters['package']), version: String(parameters['version']) };
      return brought.has(keyOf(one)) ? one : undefined;
    },
    async isOffered({ kind, package: name, version }) {
      try {
        if (kind === 'software') return (await lapel.readDistribution({ package: name, version })).distributable;
        const { firmwareVersions } = await lapel.listFirmware();
        return firmwareVersions.some((one) => one.package === name && one.version === version);
      } catch (error) {
        return !(error instanceof LapelError) || error.status !== 404;
      }
    },
    async clean() {
      const packages = new Set<string>();
      for (const [key, { version }] of brought) {
        if (!key.startsWith('software ')) continue;
        packages.add(version.package);
        await lapel.stopDistribution(version).catch(ignoreAbsent);
        await lapel.removeBinary(version).catch(ignoreAbsent);
        await lapel.removeVersion(version).catch(ignoreAbsent);
      }
      for (const name of packages) await lapel.removePackage({ package: name }).catch(ignoreAbsent);
      brought.clear();
    },
  };
}

/** Ignores a 404 (the package or version is already removed) and a 409 (it is still in use by others). */
function ignoreAbsent(error: unknown): void {
  if (!(error instanceof LapelError) || (error.status !== 404 && error.status !== 409)) throw error;
}
