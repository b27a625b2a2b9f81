import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import { changesOf, digestOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict, changeRead } from '../plan/conflict.ts';
import type { ApplicationContext } from '../plan/context.ts';
import { type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import type { Entry, PackageEntry } from '../read/configuration.ts';
import { type PresentVersion, planVersions, versionsOf } from './versions.ts';

type Wanted = SchemaTypes['files/package'];
type Present = SchemaTypes['rest/package'];

const described = ({ value, place }: Entry<Wanted>) => ({ kind: 'package', name: value.package, place }) as const;

async function packagesOf(application: Application): Promise<Present[]> {
  return application.call('list the packages', async (lapel) => {
    const packages: Present[] = [];
    for await (const one of lapel.each('listPackages', {})) packages.push(one);
    return packages;
  });
}

/** Compares the packages of the developer, with their versions, binaries, signatures and distributions. */
export async function planPackages(context: ApplicationContext): Promise<Finding[]> {
  const { application, configuration } = context;
  if (configuration.packages.length === 0) return [];
  const all = await packagesOf(application);
  const findings: Finding[] = [];
  for (const entry of configuration.packages) {
    const found = all.find((one) => one.package === entry.value.package);
    const versions = found ? await versionsOf(application, entry.value.package) : [];
    if (entry.value.absent) findings.push(...(await removal(context, { entry, found, versions })));
    else findings.push(...own(application, { entry, found }), ...(await planVersions(context, { entry, versions })));
  }
  const named = new Set(configuration.packages.map(({ value }) => value.package));
  const rest = all.filter((one) => !named.has(one.package));
  return [
    ...findings,
    ...notTouched(
      'package',
      rest.map((one) => one.package),
    ),
  ];
}

/** The package itself: its registration and its display name. */
function own(
  application: Application,
  { entry, found }: { entry: PackageEntry; found: Present | undefined },
): Finding[] {
  const about = described(entry);
  const { package: name } = entry.value;
  const resource = `/packages/${name}`;
  const fields = ['displayName'] as const;
  if (!found) {
    const body = pick(entry.value, ['package', 'displayName']);
    const step = {
      ...about,
      action: 'create',
      changes: fieldsOf(['package', 'displayName'], entry.written),
      notes: [],
      seen: 'absent',
      resource: '/packages',
      async carryOut(): Promise<void> {
        if ((await packagesOf(application)).some((one) => one.package === name))
          throw new Conflict('it was registered after the plan had read the packages');
        await application.call(`register ${name}`, (lapel) => lapel.registerPackage({ body }));
      },
    } as const;
    return [{ step }];
  }
  const changes = changesOf(fields, entry, found);
  if (changes.length === 0) return [UNCHANGED];
  const seen = digestOf(found.displayName);
  const step = {
    ...about,
    action: 'change',
    changes,
    notes: [],
    seen,
    resource,
    carryOut: () =>
      changeRead({
        seen,
        read: async () =>
          digestOf((await packagesOf(application)).find((one) => one.package === name)?.displayName ?? null),
        change: () =>
          application.call(`change ${name}`, (lapel) =>
            lapel.updatePackage({ package: name, body: pick(entry.value, fields) }),
          ),
      }),
  } as const;
  return [{ step }];
}

async function removal(
  context: ApplicationContext,
  { entry, found, versions }: { entry: PackageEntry; found: Present | undefined; versions: readonly PresentVersion[] },
): Promise<Finding[]> {
  const { application } = context;
  const { package: name } = entry.value;
  if (!found) return [UNCHANGED];
  const absent = new Set(entry.versions.flatMap(({ value }) => (value.absent ? [value.version] : [])));
  const kept = versions.filter(({ version }) => !absent.has(version));
  if (kept.length > 0)
    return refuse(
      described(entry),
      `it has versions; name each as absent: ${kept.map((one) => one.version).join(', ')}`,
    );
  const step = {
    ...described(entry),
    action: 'remove',
    changes: [{ field: 'displayName', before: found.displayName }],
    notes: ['the file says absent'],
    seen: digestOf(found.displayName),
    resource: `/packages/${name}`,
    // The service refuses the removal of a package with versions, so one that was added meanwhile is kept.
    carryOut: async (): Promise<void> => {
      await application.call(`remove ${name}`, (lapel) => lapel.removePackage({ package: name }));
    },
  } as const;
  return [...(await planVersions(context, { entry, versions })), { step }];
}
