import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { AdminCalls } from '../plan/admin-calls.ts';
import { changesOf, digestOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict } from '../plan/conflict.ts';
import { type Change, type Finding, notTouched, refuse, type Step, UNCHANGED } from '../plan/plan.ts';
import { openSecretFile } from '../plan/secret-file.ts';
import type { DeveloperEntry, Entry } from '../read/configuration.ts';

type Wanted = SchemaTypes['files/enrolment-batch'];
type Present = SchemaTypes['admin/enrolment-batch'];

const FIELDS = [
  'expiresAt',
  'mostDevices',
  'approval',
  'deviceIds',
  'registered',
  'claimCertificate',
  'authorityId',
  'certificateDays',
] as const;

interface Compared {
  calls: AdminCalls;
  developerId: string;
  entry: Entry<Wanted>;
  /** The batches of this name. */
  found: readonly Present[];
}

const described = ({ entry: { value, place }, developerId }: Compared) =>
  ({ kind: 'enrolment batch', name: `${value.name} of ${developerId}`, place }) as const;

const batchesOf = (calls: AdminCalls, developerId: string): Promise<readonly Present[]> =>
  calls.all(`list the enrolment batches of ${developerId}`, 'listEnrolmentBatches', { developerId }, 'batches');

const isOpen = ({ state }: Present): boolean => state === 'open';
const openOf = (found: readonly Present[]): string =>
  digestOf(found.filter(isOpen).map((one) => pick(one, ['batchId', ...FIELDS])));

/** The service writes times with microseconds, and PEM with its own end of line. */
const normal = <Value extends Partial<Pick<Wanted, 'expiresAt' | 'claimCertificate'>> | Present>(
  value: Value,
): Value => ({
  ...value,
  ...(value.expiresAt !== undefined && { expiresAt: new Date(value.expiresAt).toISOString() }),
  ...(typeof value.claimCertificate === 'string' && { claimCertificate: value.claimCertificate.trim() }),
});

/** Compares the enrolment batches of a developer. One that is made cannot be changed. */
export async function planBatches(
  calls: AdminCalls,
  { value: { developerId }, enrolmentBatches }: DeveloperEntry,
  isThere: boolean,
): Promise<Finding[]> {
  if (enrolmentBatches.length === 0) return [];
  const all = isThere ? await batchesOf(calls, developerId) : [];
  const findings = enrolmentBatches.flatMap((entry) =>
    compare({ calls, developerId, entry, found: all.filter(({ name }) => name === entry.value.name) }),
  );
  const named = new Set(enrolmentBatches.map(({ value }) => value.name));
  const rest = all.filter((one) => isOpen(one) && !named.has(one.name)).map(({ name }) => name);
  return [...findings, ...notTouched('enrolment batch', rest)];
}

function compare(compared: Compared): Finding[] {
  const { entry, found } = compared;
  const about = described(compared);
  const [one, ...others] = found.filter(isOpen);
  if (entry.value.absent) {
    if (!one) return [UNCHANGED];
    return [
      stepOf(compared, { action: 'remove', changes: [{ field: 'expiresAt', before: one.expiresAt }], notes: [] }),
    ];
  }
  if (others.length > 0) return refuse(about, `${found.length} open batches have this name; revoke all but one`);
  const wanted = { value: normal(entry.value), written: entry.written };
  const secret = entry.value.codeTo === undefined ? undefined : openSecretFile(entry.value.codeTo, entry.path);
  if (!one) {
    const isOver = found.some(
      ({ state, expiresAt }) => state === 'expired' && normal({ expiresAt }).expiresAt === wanted.value.expiresAt,
    );
    return isOver ? [UNCHANGED] : creation(compared, 'create', fieldsOf(FIELDS, entry.written));
  }
  const changes = changesOf(FIELDS, wanted, normal(one));
  const code = { field: 'code', before: 'the present one', after: 'another one' };
  if (secret?.isLost) return creation(compared, 'replace', [...changes, code]);
  const unseen: Finding[] = secret
    ? [{ notCompared: { ...about, field: 'codeTo', reason: 'the service never shows the code' } }]
    : [];
  if (changes.length === 0) return [...unseen, UNCHANGED];
  const fields = changes.map(({ field }) => field).join(', ');
  if (!entry.value.replace)
    return refuse(about, `${fields}: cannot be changed; with replace: true it is revoked, and made anew`);
  return creation(compared, 'replace', [...changes, code]);
}

function creation(compared: Compared, action: 'create' | 'replace', changes: readonly Change[]): Finding[] {
  const { calls, developerId, entry } = compared;
  const about = described(compared);
  const { name, expiresAt, mostDevices, codeTo, claimCertificate } = entry.value;
  if (expiresAt === undefined || mostDevices === undefined)
    return refuse(about, 'a new batch needs expiresAt and mostDevices');
  const hasCode = claimCertificate === undefined;
  const secret = codeTo === undefined ? undefined : openSecretFile(codeTo, entry.path);
  if (hasCode && !secret) return refuse(about, 'a new batch with a code needs codeTo: it is shown only once');
  if (hasCode && secret?.exists) return refuse(about, `${secret.name} exists, and is not overwritten; move it away`);
  const body = { ...pick(entry.value, FIELDS), name, expiresAt, mostDevices };
  const create = () => calls.call(`make the enrolment batch ${name}`, 'createEnrolmentBatch', { developerId, body });
  const make = async (): Promise<void> => {
    if (hasCode && secret) await secret.receive(async () => String((await create()).code));
    else await create();
  };
  const notes = hasCode && secret ? [`its code is written to ${secret.name}`] : [];
  return [stepOf(compared, { action, changes, notes, make })];
}

/** Revokes the open batches of the name, and does what comes then. Interrupted in between, the next plan does it. */
function stepOf(
  compared: Compared,
  { action, changes, notes, make }: Pick<Step, 'action' | 'changes' | 'notes'> & { make?: () => Promise<void> },
): Finding {
  const { calls, developerId, entry, found } = compared;
  const about = described(compared);
  const seen = openOf(found);
  const step: Step = {
    ...about,
    action,
    changes,
    notes: [...(found.some(isOpen) ? ['the present one is revoked'] : []), ...notes],
    seen,
    resource: '/enrolment-batches',
    async carryOut(): Promise<void> {
      const now = (await batchesOf(calls, developerId)).filter(({ name }) => name === entry.value.name);
      if (openOf(now) !== seen) throw new Conflict();
      for (const { batchId } of now.filter(isOpen))
        await calls.call(`revoke the enrolment batch ${about.name}`, 'revokeEnrolmentBatch', { batchId });
      await make?.();
    },
  };
  return { step };
}
