import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import { Failure } from '../../show/failure.ts';
import { createScreen, type Terminal } from '../../show/terminal.ts';
import { openLocalFile } from '../../software/local-file.ts';
import { uploadFile } from '../../software/upload-file.ts';
import { changesOf, digestOf, fieldsOf, isSame, pick } from '../plan/compare.ts';
import { changeRead, isNotFound } from '../plan/conflict.ts';
import type { ApplicationContext } from '../plan/context.ts';
import { type Change, type Finding, notTouched, refuse, type Step, UNCHANGED } from '../plan/plan.ts';
import type { Entry, PackageEntry } from '../read/configuration.ts';
import { type NamedBinary, readBinaryFile, readSignatureFile, sha256Of } from './binary-file.ts';

type Wanted = SchemaTypes['files/version'];
export type PresentVersion = SchemaTypes['rest/version'];
type Software = { package: string; version: string };

const FIELDS = ['description', 'requires', 'revertOf'] as const;
/** The most versions of a list with the states of their binaries. */
const PAGE = 100;

/** The versions of a package, with the states of their binaries and distributions. */
export const versionsOf = (application: Application, name: string): Promise<PresentVersion[]> =>
  application.call(`list the versions of ${name}`, async (lapel) => {
    const versions: PresentVersion[] = [];
    const input = { package: name, query: { details: 'true', limit: PAGE } };
    for await (const one of lapel.each('listVersions', input)) versions.push(one);
    return versions;
  });

interface Compared {
  application: Application;
  terminal: Terminal;
  entry: Entry<Wanted>;
  software: Software;
  found: PresentVersion | undefined;
}

const describedOf = ({ software, entry }: Pick<Compared, 'software' | 'entry'>) =>
  ({ kind: 'version', name: `${software.package}@${software.version}`, place: entry.place }) as const;
const resourceOf = ({ package: name, version }: Software): string =>
  `/packages/${name}/versions/${encodeURIComponent(version)}`;

/** Compares the versions of a package that the files name. */
export async function planVersions(
  { application, terminal }: ApplicationContext,
  { entry: parent, versions }: { entry: PackageEntry; versions: readonly PresentVersion[] },
): Promise<Finding[]> {
  const compared = parent.versions.map((entry): Compared => {
    const software = { package: parent.value.package, version: entry.value.version };
    const found = versions.find(({ version }) => version === entry.value.version);
    return { application, terminal, entry, software, found };
  });
  const findings: Finding[] = [];
  // Versions are registered first, because one can be a revert of another.
  for (const one of compared) if (!one.found && !one.entry.value.absent) findings.push(registration(one));
  for (const one of compared) {
    const found = one.entry.value.absent ? removal(one) : await contents(one);
    findings.push(...(found.length === 0 && one.found ? [UNCHANGED] : found));
  }
  const named = new Set(parent.versions.map(({ value }) => value.version));
  const rest = versions.filter(({ version }) => !named.has(version));
  return [
    ...findings,
    ...notTouched(
      'version',
      rest.map((one) => `${one.package}@${one.version}`),
    ),
  ];
}

const readAgain = async ({ application, software }: Compared): Promise<PresentVersion | undefined> => {
  try {
    return (await versionsOf(application, software.package)).find(({ version }) => version === software.version);
  } catch (error) {
    if (isNotFound(error)) return undefined; // the package was removed as well
    throw error;
  }
};

function stepOf(
  compared: Compared,
  {
    action = 'change',
    changes,
    notes = [],
    seen,
    read,
    change,
  }: {
    action?: Step['action'];
    changes: readonly Change[];
    notes?: readonly string[];
    seen: string;
    read: () => Promise<string>;
    change: () => Promise<unknown>;
  },
): Finding {
  const about = describedOf(compared);
  const carryOut = () => changeRead({ seen, read, change });
  return { step: { ...about, action, changes, notes, seen, resource: resourceOf(compared.software), carryOut } };
}

function registration(compared: Compared): Finding {
  const { application, software, entry } = compared;
  const body = pick(entry.value, ['version', 'description', 'requires']);
  const { requires, ...rest } = body;
  return stepOf(compared, {
    action: 'create',
    changes: fieldsOf(['description', 'requires'], entry.written),
    seen: 'absent',
    read: async () => ((await readAgain(compared)) ? 'present' : 'absent'),
    change: () =>
      application.call(`register ${software.package} ${software.version}`, (lapel) =>
        lapel.registerVersion({ package: software.package, body: { ...rest, ...(requires && { requires }) } }),
      ),
  });
}

function removal(compared: Compared): Finding[] {
  const { application, software, found } = compared;
  if (!found) return [UNCHANGED];
  const stateOf = (one: PresentVersion | undefined): string =>
    one ? digestOf([pick(one, FIELDS), one.binary?.uploadDate, one.distribution?.distributable]) : 'absent';
  const remove = () =>
    application.call(`remove ${software.package} ${software.version}`, async (lapel) => {
      if (found.distribution?.distributable) await lapel.stopDistribution(software);
      if (found.binary?.appFileExists) await lapel.removeBinary(software);
      await lapel.removeVersion(software);
    });
  return [
    stepOf(compared, {
      action: 'remove',
      changes: [{ field: 'file', before: found.binary?.sha256 ?? null }],
      notes: ['the file says absent', ...(found.distribution?.distributable ? ['its distribution is stopped'] : [])],
      seen: stateOf(found),
      read: async () => stateOf(await readAgain(compared)),
      change: remove,
    }),
  ];
}

/** Everything of a version but its registration, in the order in which it is made. */
async function contents(compared: Compared): Promise<Finding[]> {
  return [
    ...ownFields(compared),
    ...(await binary(compared)),
    ...(await signature(compared)),
    ...distribution(compared),
  ];
}

function ownFields(compared: Compared): Finding[] {
  const { application, software, entry, found } = compared;
  const present = found ?? pick(entry.value, ['description', 'requires']);
  const changes = changesOf(FIELDS, entry, present);
  if (changes.length === 0) return [];
  const stateOf = (one: Pick<Wanted, (typeof FIELDS)[number]> | undefined): string =>
    digestOf(FIELDS.map((field) => one?.[field] ?? null));
  const body = pick(
    entry.value,
    changes.map(({ field }) => field as (typeof FIELDS)[number]),
  );
  return [
    stepOf(compared, {
      changes,
      seen: stateOf(present),
      read: async () => stateOf(await readAgain(compared)),
      change: () =>
        application.call(`change ${software.package} ${software.version}`, (lapel) =>
          lapel.updateVersion({ ...software, body }),
        ),
    }),
  ];
}

async function binary(compared: Compared): Promise<Finding[]> {
  const { entry, found } = compared;
  const about = describedOf(compared);
  if (entry.value.file === undefined) return [];
  const local = await readBinaryFile(entry.value.file, entry.path);
  const stored = found?.binary?.appFileExists ? found.binary : undefined;
  const unseen = (reason: string): Finding[] => [{ notCompared: { ...about, field: 'file', reason } }];
  if (local.sha256 === null)
    return stored ? unseen(`there is no ${local.name} here`) : refuse(about, `there is no ${local.name}`);
  if (!stored) return [upload(compared, local)];
  if (stored.sha256 === null && stored.fileSize === local.size)
    return unseen('the service has not computed the SHA-256 yet; the sizes are equal. Plan again in a moment');
  if (stored.sha256 === local.sha256) return [];
  const words = `${stored.sha256 ?? `${String(stored.fileSize)} bytes`}, and not ${local.sha256} of ${local.name}`;
  return refuse(about, `its binary is ${words}; a binary is never replaced, so register another version`);
}

function upload(compared: Compared, local: NamedBinary): Finding {
  const { application, software, terminal } = compared;
  const of = `${software.package} ${software.version}`;
  const isStored = async (): Promise<string> => {
    const state = await application.call(`read the binary of ${of}`, (lapel) => lapel.readBinary(software));
    return state.appFileExists ? (state.sha256 ?? 'unknown') : 'no binary';
  };
  async function send(): Promise<void> {
    await using file = await openLocalFile(local.path);
    if ((await sha256Of(file)) !== local.sha256) throw new Failure(`${local.name} is not the file that was planned`);
    const { urlList } = await application.call(`ask where to upload ${of}`, (lapel) => lapel.issueUploadUrl(software));
    await uploadFile(file, { url: String(urlList[0]?.uploadUrl), screen: createScreen(terminal.stderr), terminal });
    const stored = await isStored();
    if (stored !== local.sha256 && stored !== 'unknown')
      throw new Failure(`the stored binary of ${of} is ${stored}, and not ${String(local.sha256)}`);
  }
  return stepOf(compared, {
    changes: [{ field: 'file', before: null, after: local.name }],
    notes: [`SHA-256 ${String(local.sha256)}`],
    seen: 'no binary',
    read: isStored,
    change: send,
  });
}

async function signature(compared: Compared): Promise<Finding[]> {
  const { application, software, entry, found } = compared;
  const about = describedOf(compared);
  const { signature: name, file } = entry.value;
  if (name === undefined) return [];
  const wanted = await readSignatureFile(name, { configuration: entry.path, software });
  if (typeof wanted === 'string') return refuse(about, wanted);
  const local = file === undefined ? null : await readBinaryFile(file, entry.path);
  if (local?.sha256 && local.sha256 !== wanted.sha256)
    return refuse(about, `${name} is not the signature of ${local.name}`);
  const read = async () => {
    try {
      const answer = await application.call(`read the signature of ${about.name}`, (lapel) =>
        lapel.readSignature(software),
      );
      return pick(answer, ['keyId', 'sha256', 'signature']);
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  };
  const present = found ? await read() : null;
  if (isSame(present, wanted)) return [];
  return [
    stepOf(compared, {
      changes: [{ field: 'signature', before: present && `of the key ${present.keyId}`, after: name }],
      seen: digestOf(present),
      read: async () => digestOf(await read()),
      change: () =>
        application.call(`store the signature of ${about.name}`, (lapel) =>
          lapel.putSignature({ ...software, body: wanted }),
        ),
    }),
  ];
}

function distribution(compared: Compared): Finding[] {
  const { application, software, entry, found } = compared;
  const wanted = entry.value.distributed;
  const present = found?.distribution?.distributable ?? false;
  if (wanted === undefined || wanted === present) return [];
  const of = `the distribution of ${software.package} ${software.version}`;
  return [
    stepOf(compared, {
      changes: [{ field: 'distributed', before: present, after: wanted }],
      seen: String(present),
      read: async () =>
        String((await application.call(`read ${of}`, (lapel) => lapel.readDistribution(software))).distributable),
      change: () =>
        wanted
          ? application.call(`start ${of}`, (lapel) => lapel.startDistribution(software))
          : application.call(`stop ${of}`, (lapel) => lapel.stopDistribution(software)),
    }),
  ];
}
