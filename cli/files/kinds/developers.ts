import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type AdminCalls, adminCalls } from '../plan/admin-calls.ts';
import { changesOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict, changeRead, changeSeen } from '../plan/conflict.ts';
import type { AdministrationContext } from '../plan/context.ts';
import { type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import type { DeveloperEntry } from '../read/configuration.ts';
import { planApplications } from './applications.ts';
import { planBatches } from './enrolment-batches.ts';
import { planMembers } from './members.ts';

const FIELDS = ['name', 'deviceLimit', 'softwareSignatures', 'certificateChange'] as const;
const NEW = ['developerId', ...FIELDS] as const;

const described = ({ value, place }: DeveloperEntry) =>
  ({ kind: 'developer', name: value.developerId, place }) as const;

/** Compares developers with their contracts, applications, people and enrolment batches. */
export async function planDevelopers({ administration, configuration }: AdministrationContext): Promise<Finding[]> {
  if (configuration.developers.length === 0) return [];
  const calls = adminCalls(administration);
  const findings: Finding[] = [];
  for (const entry of configuration.developers) {
    const { developerId } = entry.value;
    const found = await calls.find(`read the developer ${developerId}`, 'readDeveloper', { developerId });
    if (entry.value.absent) findings.push(...(found ? await removal(calls, { entry, ...found }) : [UNCHANGED]));
    else {
      findings.push(...(found ? change(calls, { entry, ...found }) : creation(calls, entry)));
      const isThere = found !== undefined;
      findings.push(...(await planApplications(calls, entry, isThere)));
      findings.push(...(await planMembers(calls, entry, isThere)));
      findings.push(...(await planBatches(calls, entry, isThere)));
    }
  }
  const all = await calls.all('list the developers', 'listDevelopers', {}, 'developers');
  const named = new Set<string>(configuration.developers.map(({ value }) => value.developerId));
  const rest = all.map((one) => one.developerId).filter((developerId) => !named.has(developerId));
  return [...findings, ...notTouched('developer', rest)];
}

function creation(calls: AdminCalls, entry: DeveloperEntry): Finding[] {
  const about = described(entry);
  const { developerId, name } = entry.value;
  if (name === undefined) return refuse(about, 'a new developer needs a name');
  const step = {
    ...about,
    action: 'create',
    changes: fieldsOf(NEW, entry.written),
    notes: entry.value.deviceLimit === undefined ? ['without a deviceLimit the developer has no contract'] : [],
    seen: 'absent',
    resource: '/developers',
    async carryOut(): Promise<void> {
      if (await calls.find(`read the developer ${developerId}`, 'readDeveloper', { developerId }))
        throw new Conflict('it was made after the plan had read the developers');
      const body = { ...pick(entry.value, NEW), name };
      await calls.call(`make the developer ${developerId}`, 'createDeveloper', { body });
    },
  } as const;
  return [{ step }];
}

type Found = { entry: DeveloperEntry; answer: SchemaTypes['admin/developer-details']; tag: string };

function change(calls: AdminCalls, { entry, answer, tag }: Found): Finding[] {
  const about = described(entry);
  const { developerId } = entry.value;
  if (answer.removalId !== null) return refuse(about, 'the developer is being removed');
  const changes = changesOf(FIELDS, entry, answer);
  if (changes.length === 0) return [UNCHANGED];
  const body = pick(
    entry.value,
    changes.map(({ field }) => field as (typeof FIELDS)[number]),
  );
  const update = () => calls.call(`change the developer ${developerId}`, 'updateDeveloper', { developerId, body }, tag);
  const isDone = async () => {
    const now = await calls.find(`read the developer ${developerId}`, 'readDeveloper', { developerId });
    return now !== undefined && changesOf(FIELDS, entry, now.answer).length === 0;
  };
  const step = {
    ...about,
    action: 'change',
    changes,
    notes: [],
    seen: tag,
    resource: `/developers/${developerId}`,
    carryOut: () => changeSeen(update, isDone),
  } as const;
  return [{ step }];
}

async function removal(calls: AdminCalls, { entry, answer, tag }: Found): Promise<Finding[]> {
  const { developerId } = entry.value;
  const absent = new Set<string>(
    entry.applications.flatMap(({ value }) => (value.absent ? [value.applicationId] : [])),
  );
  const what = `list the applications of ${developerId}`;
  const applications = await calls.all(what, 'listAllApplications', { query: { developerId } }, 'applications');
  const kept = applications.filter(({ applicationId }) => !absent.has(applicationId));
  if (kept.length > 0) {
    const names = kept.map(({ applicationId }) => applicationId).join(', ');
    return refuse(described(entry), `it has applications; name each as absent: ${names}`);
  }
  const step = {
    ...described(entry),
    action: 'remove',
    changes: [{ field: 'name', before: answer.name }],
    notes: ['the file says absent'],
    seen: tag,
    resource: `/developers/${developerId}`,
    carryOut: () =>
      changeRead({
        seen: tag,
        read: async () =>
          String((await calls.find(`read the developer ${developerId}`, 'readDeveloper', { developerId }))?.tag),
        change: () => calls.call(`remove the developer ${developerId}`, 'deleteDeveloper', { developerId }),
      }),
  } as const;
  return [...(await planApplications(calls, entry, true)), { step }];
}
