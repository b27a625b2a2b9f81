import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AdminCalls } from '../plan/admin-calls.ts';
import { changesOf, digestOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict, changeRead } from '../plan/conflict.ts';
import { type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import { openSecretFile } from '../plan/secret-file.ts';
import type { DeveloperEntry, Entry } from '../read/configuration.ts';

type Wanted = SchemaTypes['files/application'];
type Row = SchemaTypes['admin/application-row'];

const described = ({ value, place }: Entry<Wanted>) =>
  ({ kind: 'application', name: value.applicationId, place }) as const;
const resourceOf = ({ value }: Entry<Wanted>): string => `/applications/${value.applicationId}`;

const rowsOf = (calls: AdminCalls, developerId: string): Promise<readonly Row[]> =>
  calls.all(
    `list the applications of ${developerId}`,
    'listAllApplications',
    { query: { developerId } },
    'applications',
  );

/** Compares the applications of a developer. */
export async function planApplications(
  calls: AdminCalls,
  { value: { developerId }, applications }: DeveloperEntry,
  isThere: boolean,
): Promise<Finding[]> {
  if (applications.length === 0) return [];
  const rows = isThere ? await rowsOf(calls, developerId) : [];
  const findings: Finding[] = [];
  for (const entry of applications) {
    const row = rows.find(({ applicationId }) => applicationId === entry.value.applicationId);
    if (entry.value.absent) findings.push(row ? removal(calls, { entry, row }) : UNCHANGED);
    else findings.push(...(row ? await change(calls, { entry, row }) : creation(calls, { entry, developerId })));
  }
  const named = new Set<string>(applications.map(({ value }) => value.applicationId));
  const rest = rows.map((row) => row.applicationId).filter((applicationId) => !named.has(applicationId));
  return [...findings, ...notTouched('application', rest)];
}

function creation(calls: AdminCalls, { entry, developerId }: { entry: Entry<Wanted>; developerId: string }): Finding[] {
  const about = described(entry);
  const { applicationId, name, secretTo } = entry.value;
  if (name === undefined) return refuse(about, 'a new application needs a name');
  if (secretTo === undefined) return refuse(about, 'a new application needs secretTo: its secret is shown only once');
  const secret = openSecretFile(secretTo, entry.path);
  if (secret.exists) return refuse(about, `${secret.name} exists, and is not overwritten; move it away`);
  const create = () =>
    calls.call(`make the application ${applicationId}`, 'createApplication', {
      developerId,
      body: { applicationId, name },
    });
  const step = {
    ...about,
    action: 'create',
    changes: fieldsOf(['applicationId', 'name'], entry.written),
    notes: [`its secret is written to ${secret.name}`],
    seen: 'absent',
    resource: `/developers/${developerId}/applications`,
    async carryOut(): Promise<void> {
      if (await calls.find(`read the application ${applicationId}`, 'readApplication', { applicationId }))
        throw new Conflict('it was made after the plan had read the applications');
      await secret.receive(async () => (await create()).secret);
    },
  } as const;
  return [{ step }, ...authentication(calls, { entry, present: 'secret' })];
}

async function change(calls: AdminCalls, { entry, row }: { entry: Entry<Wanted>; row: Row }): Promise<Finding[]> {
  if (entry.value.name !== undefined && entry.value.name !== row.name)
    return refuse(described(entry), `its name is ${row.name}, and cannot be changed`);
  const findings = [
    ...(await lostSecret(calls, entry)),
    ...authentication(calls, { entry, present: row.authentication }),
  ];
  return findings.some((one) => 'step' in one) ? findings : [...findings, UNCHANGED];
}

/** The secret of an application that an apply has made, and could not write before it was interrupted. */
async function lostSecret(calls: AdminCalls, entry: Entry<Wanted>): Promise<Finding[]> {
  const about = described(entry);
  const { applicationId, secretTo } = entry.value;
  if (secretTo === undefined) return [];
  const secret = openSecretFile(secretTo, entry.path);
  if (!secret.isLost) {
    const reason = secret.exists
      ? 'the service never shows it'
      : `there is no ${secret.name}; lapel admin application secret issues another`;
    return [{ notCompared: { ...about, field: 'secretTo', reason } }];
  }
  const read = async () => {
    const { secrets } = await calls.call(`list the secrets of ${applicationId}`, 'listSecrets', { applicationId });
    return digestOf(secrets.map(({ secretId }) => secretId).sort());
  };
  const replace = async () =>
    (await calls.call(`replace the secret of ${applicationId}`, 'replaceSecret', { applicationId })).secret;
  const seen = await read();
  const step = {
    ...about,
    action: 'replace',
    changes: [{ field: 'secret', before: 'the present one', after: 'another one' }],
    notes: ['an apply was interrupted before it had written the secret'],
    seen,
    resource: `${resourceOf(entry)}/secret`,
    carryOut: () => changeRead({ seen, read, change: () => secret.receive(replace) }),
  } as const;
  return [{ step }];
}

function authentication(
  calls: AdminCalls,
  { entry, present }: { entry: Entry<Wanted>; present: Row['authentication'] },
): Finding[] {
  const { applicationId, authentication: wanted } = entry.value;
  const changes = changesOf(['authentication'], entry, { authentication: present });
  if (wanted === undefined || changes.length === 0) return [];
  const read = async () => {
    const found = await calls.all('list the applications', 'listAllApplications', { query: {} }, 'applications');
    return String(found.find((row) => row.applicationId === applicationId)?.authentication);
  };
  const what = `change how ${applicationId} gets its tokens`;
  const step = {
    ...described(entry),
    action: 'change',
    changes,
    notes: [],
    seen: present,
    resource: resourceOf(entry),
    carryOut: () =>
      changeRead({
        seen: present,
        read,
        change: () => calls.call(what, 'updateApplication', { applicationId, body: { authentication: wanted } }),
      }),
  } as const;
  return [{ step }];
}

function removal(calls: AdminCalls, { entry, row }: { entry: Entry<Wanted>; row: Row }): Finding {
  const { applicationId } = row;
  const stateOf = (one: Row | undefined): string =>
    one ? digestOf(pick(one, ['applicationId', 'name', 'createdAt', 'authentication', 'settings'])) : 'absent';
  const seen = stateOf(row);
  const step = {
    ...described(entry),
    action: 'remove',
    changes: [{ field: 'name', before: row.name }],
    notes: ['the file says absent'],
    seen,
    resource: resourceOf(entry),
    carryOut: () =>
      changeRead({
        seen,
        read: async () =>
          stateOf((await rowsOf(calls, row.developerId)).find((one) => one.applicationId === applicationId)),
        change: () => calls.call(`remove the application ${applicationId}`, 'deleteApplication', { applicationId }),
      }),
  } as const;
  return { step };
}
