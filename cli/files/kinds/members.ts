import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AdminCalls } from '../plan/admin-calls.ts';
import { changesOf, digestOf, fieldsOf } from '../plan/compare.ts';
import { Conflict } from '../plan/conflict.ts';
import { type Change, type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import { openSecretFile } from '../plan/secret-file.ts';
import type { DeveloperEntry, Entry } from '../read/configuration.ts';

type Wanted = SchemaTypes['files/member'];
type Present = SchemaTypes['common/member'];

/** A person of a developer, who is looked at for one developer. */
interface Compared {
  calls: AdminCalls;
  developerId: string;
  entry: Entry<Wanted>;
  /** The members of this name. */
  found: readonly Present[];
}

const described = ({ entry: { value, place }, developerId }: Compared) =>
  ({ kind: 'member', name: `${value.name} of ${developerId}`, place }) as const;

const membersOf = async (calls: AdminCalls, developerId: string): Promise<Present[]> =>
  (await calls.call(`list the people of ${developerId}`, 'listMembers', { developerId })).members;

const stateOf = (found: readonly Present[]): string =>
  digestOf(found.map(({ memberId, role }) => `${memberId} ${role}`).sort());

/** Compares the people of a developer. */
export async function planMembers(
  calls: AdminCalls,
  { value: { developerId }, members }: DeveloperEntry,
  isThere: boolean,
): Promise<Finding[]> {
  if (members.length === 0) return [];
  const all = isThere ? await membersOf(calls, developerId) : [];
  const findings = members.flatMap((entry) =>
    compare({ calls, developerId, entry, found: all.filter(({ name }) => name === entry.value.name) }),
  );
  const named = new Set(members.map(({ value }) => value.name));
  const rest = all.map(({ name }) => name).filter((name) => !named.has(name));
  return [...findings, ...notTouched('member', rest)];
}

function compare(compared: Compared): Finding[] {
  const { entry, found } = compared;
  const [one] = found;
  if (entry.value.absent)
    return one ? [change(compared, 'remove', [{ field: 'role', before: one.role }])] : [UNCHANGED];
  if (found.length > 1)
    return refuse(described(compared), `${found.length} people of the developer have this name; revoke all but one`);
  const secret = entry.value.tokenTo === undefined ? undefined : openSecretFile(entry.value.tokenTo, entry.path);
  if (!one) return creation(compared, 'create', fieldsOf(['name', 'role', 'expiresInDays'], entry.written));
  const changes = changesOf(['role'], entry, one);
  const token = { field: 'token', before: 'the present one', after: 'another one' };
  if (secret?.isLost) return creation(compared, 'replace', [...changes, token]);
  const unseen: Finding[] = (['expiresInDays', 'tokenTo'] as const).flatMap((field): Finding[] =>
    entry.value[field] === undefined
      ? []
      : [{ notCompared: { ...described(compared), field, reason: `the present token ends at ${one.expiresAt}` } }],
  );
  if (changes.length === 0) return [...unseen, UNCHANGED];
  if (!entry.value.replace)
    return refuse(
      described(compared),
      'role: cannot be changed; with replace: true another token is made, and this one revoked',
    );
  return creation(compared, 'replace', [...changes, token]);
}

/** Gives the person a token, after the present one was revoked. */
function creation(compared: Compared, action: 'create' | 'replace', changes: readonly Change[]): Finding[] {
  const { calls, developerId, entry, found } = compared;
  const about = described(compared);
  const { name, role = found[0]?.role, tokenTo, expiresInDays } = entry.value;
  if (role === undefined) return refuse(about, 'a new person needs a role');
  if (tokenTo === undefined) return refuse(about, 'a new token needs tokenTo: it is shown only once');
  const secret = openSecretFile(tokenTo, entry.path);
  if (secret.exists) return refuse(about, `${secret.name} exists, and is not overwritten; move it away`);
  const body = { name, role, ...(expiresInDays !== undefined && { expiresInDays }) };
  const create = async (): Promise<string> =>
    (await calls.call(`give ${name} a token`, 'createMember', { developerId, body })).token;
  return [
    change(compared, action, changes, {
      note: `the token is written to ${secret.name}`,
      make: () => secret.receive(create),
    }),
  ];
}

/** Revokes the tokens of the person, and does what comes then. Interrupted in between, the next plan does it. */
function change(
  { calls, developerId, ...rest }: Compared,
  action: 'create' | 'replace' | 'remove',
  changes: readonly Change[],
  next?: { note: string; make: () => Promise<void> },
): Finding {
  const { entry, found } = rest;
  const about = described({ calls, developerId, ...rest });
  const seen = stateOf(found);
  const step = {
    ...about,
    action,
    changes,
    notes: [...(found.length > 0 ? ['the present token is revoked'] : []), ...(next ? [next.note] : [])],
    seen,
    resource: `/developers/${developerId}/members`,
    async carryOut(): Promise<void> {
      const now = (await membersOf(calls, developerId)).filter(({ name }) => name === entry.value.name);
      if (stateOf(now) !== seen) throw new Conflict();
      for (const { memberId } of now)
        await calls.call(`revoke the token of ${about.name}`, 'revokeMember', { developerId, memberId });
      await next?.make();
    },
  };
  return { step };
}
