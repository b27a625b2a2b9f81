import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type AdminCalls, adminCalls } from '../plan/admin-calls.ts';
import { changesOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict, changeRead, changeSeen } from '../plan/conflict.ts';
import type { AdministrationContext } from '../plan/context.ts';
import { type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import type { Entry } from '../read/configuration.ts';

type Wanted = SchemaTypes['files/person'];

const FIELDS = ['name', 'role', 'disabled'] as const;

const described = ({ value, place }: Entry<Wanted>) => ({ kind: 'person', name: value.personId, place }) as const;
const find = (calls: AdminCalls, personId: string) =>
  calls.find(`read the person ${personId}`, 'readPerson', { personId });

/** Compares the people who administer the service. Their tokens are no part of the files. */
export async function planPeople({ administration, configuration }: AdministrationContext): Promise<Finding[]> {
  if (configuration.people.length === 0) return [];
  const calls = adminCalls(administration);
  const findings: Finding[] = [];
  for (const entry of configuration.people) findings.push(...(await compare(calls, entry)));
  const all = await calls.all('list the people', 'listPeople', {}, 'people');
  const named = new Set<string>(configuration.people.map(({ value }) => value.personId));
  const rest = all.map(({ personId }) => personId).filter((personId) => !named.has(personId));
  return [...findings, ...notTouched('person', rest)];
}

async function compare(calls: AdminCalls, entry: Entry<Wanted>): Promise<Finding[]> {
  const { value } = entry;
  const { personId } = value;
  const about = { ...described(entry), resource: `/people/${personId}` };
  const found = await find(calls, personId);
  if (value.absent) {
    if (!found) return [UNCHANGED];
    const seen = found.tag;
    const step = {
      ...about,
      action: 'remove',
      changes: [{ field: 'role', before: found.answer.role }],
      notes: ['the file says absent', `${found.answer.tokens.length} tokens end`],
      seen,
      carryOut: () =>
        changeRead({
          seen,
          read: async () => String((await find(calls, personId))?.tag),
          change: () => calls.call(`remove the person ${personId}`, 'deletePerson', { personId }),
        }),
    } as const;
    return [{ step }];
  }
  if (!found) return creation(calls, entry);
  const changes = changesOf(FIELDS, entry, found.answer);
  if (changes.length === 0) return [UNCHANGED];
  const body = pick(
    value,
    changes.map(({ field }) => field as (typeof FIELDS)[number]),
  );
  const update = () => calls.call(`change the person ${personId}`, 'updatePerson', { personId, body }, found.tag);
  const isDone = async () => {
    const now = await find(calls, personId);
    return now !== undefined && changesOf(FIELDS, entry, now.answer).length === 0;
  };
  const step = {
    ...about,
    action: 'change',
    changes,
    notes: [],
    seen: found.tag,
    carryOut: () => changeSeen(update, isDone),
  } as const;
  return [{ step }];
}

function creation(calls: AdminCalls, entry: Entry<Wanted>): Finding[] {
  const { personId, name, role, disabled } = entry.value;
  if (name === undefined || role === undefined) return refuse(described(entry), 'a new person needs a name and a role');
  const step = {
    ...described(entry),
    action: 'create',
    changes: fieldsOf(['personId', ...FIELDS], entry.written),
    notes: [`without a token; lapel admin token create ${personId} makes one`],
    seen: 'absent',
    resource: '/people',
    async carryOut(): Promise<void> {
      if (await find(calls, personId)) throw new Conflict('it was made after the plan had read the people');
      await calls.call(`make the person ${personId}`, 'createPerson', { body: { personId, name, role } });
      if (disabled)
        await calls.call(`disable the person ${personId}`, 'updatePerson', { personId, body: { disabled } });
    },
  } as const;
  return [{ step }];
}
