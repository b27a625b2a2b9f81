import type { Operations } from '@lapel/client/operations';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import { changesOf, digestOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict, changeSeen, tagOf } from '../plan/conflict.ts';
import type { ApplicationContext } from '../plan/context.ts';
import { type Change, type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import type { Entry } from '../read/configuration.ts';

type Wanted = SchemaTypes['files/rollout'];
type Row = SchemaTypes['common/rollout-row'];
type Present = Operations['readRollout']['answer'];

/** The rules that can be changed while a rollout is paused. */
const RULES = ['ratePerMinute', 'maxUnfinished', 'window', 'abort', 'health'] as const;
/** The fields that no request changes, as far as the service shows them. */
const FIXED = [
  'operation',
  'devices',
  'retry',
  'confirm',
  'revert',
  'expireIn',
  'answerWithin',
  'revertAfter',
  'supersede',
  'preferConnected',
] as const;
const NEW = [...RULES, ...FIXED, 'parameters', 'stages'] as const;
const ENDED: ReadonlySet<Row['state']> = new Set(['completed', 'cancelled']);

const described = ({ value, place }: Entry<Wanted>) => ({ kind: 'rollout', name: value.label, place }) as const;

const rolloutsOf = (application: Application): Promise<Row[]> =>
  application.call('list the rollouts', async (lapel) => {
    const rows: Row[] = [];
    for await (const row of lapel.each('listRollouts', {})) rows.push(row);
    return rows;
  });

async function readOf(application: Application, rolloutId: string) {
  const what = `read the rollout ${rolloutId}`;
  const { answer, tag } = await application.call(what, (lapel) => lapel.tagged('readRollout', { rolloutId }));
  return { answer, tag: tagOf(`the rollout ${rolloutId}`, tag) };
}

/** The fields of a rollout as the files have them. */
const fieldsOfPresent = ({ operation, selector, rules }: Present): object => ({
  supersede: false,
  preferConnected: false,
  ...rules,
  operation,
  devices: selector,
});

/** The part of the parameters that the service shows, in its words; undefined when it shows too little to compare. */
function subjectOf({ operation, parameters }: Wanted): string | undefined {
  const { package: name, version, lang, type, enabled } = (parameters ?? {}) as Record<string, unknown>;
  if (operation === 'installSoftware' || operation === 'updateFirmware') return `${String(name)}@${String(version)}`;
  if (operation === 'setLanguage') return String(lang);
  if (operation === 'setConnectivityState') return `${String(type)} ${enabled === true ? 'on' : 'off'}`;
  return undefined;
}

/** Compares the continuous rollouts of the application. */
export async function planRollouts({ application, configuration }: ApplicationContext): Promise<Finding[]> {
  const isExclusive = configuration.exclusive.has('rollouts');
  if (configuration.rollouts.length === 0 && !isExclusive) return [];
  const rows = await rolloutsOf(application);
  const atWork = rows.filter(({ state }) => !ENDED.has(state));
  const findings: Finding[] = [];
  for (const entry of configuration.rollouts) {
    const [row, ...others] = atWork.filter(({ label }) => label === entry.value.label);
    if (others.length > 0)
      findings.push(...refuse(described(entry), `${others.length + 1} rollouts that go on have this label`));
    else findings.push(...(await compare(application, entry, row)));
  }
  const named = new Set<string | null>(configuration.rollouts.map(({ value }) => value.label));
  const rest: Present[] = [];
  for (const { label, rolloutId } of atWork) {
    if (named.has(label)) continue;
    const { answer } = await readOf(application, rolloutId);
    if (answer.rules.continuous) rest.push(answer);
  }
  if (isExclusive) return [...findings, ...rest.map((one) => removal(application, one))];
  return [
    ...findings,
    ...notTouched(
      'rollout',
      rest.map(({ label, rolloutId }) => label ?? rolloutId),
    ),
  ];
}

async function compare(application: Application, entry: Entry<Wanted>, row: Row | undefined): Promise<Finding[]> {
  if (!row) return entry.value.absent ? [UNCHANGED] : creation(application, entry);
  const { answer, tag } = await readOf(application, row.rolloutId);
  if (!answer.rules.continuous)
    return refuse(described(entry), `a rollout of this label goes on that is not continuous: ${row.rolloutId}`);
  if (entry.value.absent) return [removal(application, answer, entry)];
  return difference(application, { entry, answer, tag });
}

const bodyOf = (entry: Entry<Wanted>): SchemaTypes['rest/rollout-create'] | string => {
  const { label, operation, parameters, devices, absent: _, replace: __, ...rules } = entry.value;
  if (operation === undefined || parameters === undefined || devices === undefined)
    return 'a new rollout needs operation, parameters and devices';
  return { label, operation, parameters, devices, ...rules, continuous: true };
};

/**
 * The key of a start. It is the same until another rollout of the label was made, so that a repetition after an
 * interruption starts nothing twice, and a start after a cancel is another one.
 */
const keyOf = (application: Application, { body, rows }: { body: object; rows: readonly Row[] }): string => {
  const { label } = body as { label: string };
  const before = rows.filter((row) => row.label === label).map(({ rolloutId }) => rolloutId);
  return `lapel-files-${digestOf([application.applicationId, body, before.sort()])}`;
};

function start(application: Application, body: SchemaTypes['rest/rollout-create'], idempotencyKey: string) {
  return application.call(`start the rollout ${String(body.label)}`, (lapel) =>
    lapel.startRollout({ body, idempotencyKey }),
  );
}

async function creation(application: Application, entry: Entry<Wanted>): Promise<Finding[]> {
  const body = bodyOf(entry);
  if (typeof body === 'string') return refuse(described(entry), body);
  const { devices } = body;
  const { matching } = await application.call('count the devices of a rollout', (lapel) =>
    lapel.countDevices({ body: { devices } }),
  );
  const step = {
    ...described(entry),
    action: 'create',
    changes: fieldsOf(NEW, entry.written),
    notes: [`devices that match now: ${matching}; later ones join`],
    seen: 'absent',
    resource: '/rollouts',
    async carryOut(): Promise<void> {
      const now = await rolloutsOf(application);
      if (now.some(({ label, state }) => label === body.label && !ENDED.has(state)))
        throw new Conflict('it was started after the plan had read the rollouts');
      await start(application, body, keyOf(application, { body, rows: now }));
    },
  } as const;
  return [{ step }];
}

function removal(application: Application, present: Present, entry?: Entry<Wanted>): Finding {
  const { rolloutId, label } = present;
  const seen = stateOf(present);
  const step = {
    kind: 'rollout',
    name: label ?? rolloutId,
    place: entry?.place ?? null,
    action: 'remove',
    changes: [{ field: 'subject', before: present.subject }],
    notes: [`${entry ? 'the file says absent' : 'the list of rollouts is exclusive'}: it is cancelled`],
    seen,
    resource: `/rollouts/${rolloutId}`,
    async carryOut(): Promise<void> {
      const { answer } = await readOf(application, rolloutId);
      if (answer.state === 'cancelled') return;
      if (stateOf(answer) !== seen) throw new Conflict();
      await application.call(`cancel the rollout ${rolloutId}`, (lapel) => lapel.cancelRollout({ rolloutId }));
    },
  } as const;
  return { step };
}

/** The fields of a rollout that people decide on; its counts change by themselves. */
const stateOf = ({ rolloutId, label, operation, subject, selector, rules }: Present): string =>
  digestOf([rolloutId, label, operation, subject, selector, rules]);

interface Compared {
  entry: Entry<Wanted>;
  answer: Present;
  tag: string;
}

function difference(application: Application, { entry, answer, tag }: Compared): Finding[] {
  const about = described(entry);
  const { rolloutId, state } = answer;
  const unseen: Finding[] = (['stages', 'parameters'] as const).flatMap((field): Finding[] => {
    if (entry.value[field] === undefined || (field === 'parameters' && subjectOf(entry.value) !== undefined)) return [];
    const reason = field === 'stages' ? 'the service shows numbers of devices' : 'the service does not show them';
    return [{ notCompared: { ...about, field, reason } }];
  });
  const present = fieldsOfPresent(answer);
  const fixed = [...changesOf(FIXED, entry, present), ...subjectChange(entry, answer)];
  const rules = changesOf(RULES, entry, present);
  if (fixed.length > 0)
    return [...unseen, ...replacement(application, { entry, answer, changes: [...fixed, ...rules] })];
  if (rules.length === 0) return [...unseen, UNCHANGED];
  if (state === 'running')
    return refuse(
      about,
      `${rules.map(({ field }) => field).join(', ')}: it is running, and its rules change while it is paused only: lapel rollout pause ${rolloutId}`,
    );
  const body = pick(
    entry.value,
    rules.map(({ field }) => field as (typeof RULES)[number]),
  );
  const change = () =>
    application.call(`change the rollout ${rolloutId}`, (lapel) =>
      lapel.updateRollout({ rolloutId, body, ifMatch: tag }),
    );
  const isDone = async () =>
    changesOf(RULES, entry, fieldsOfPresent((await readOf(application, rolloutId)).answer)).length === 0;
  const step = {
    ...about,
    action: 'change',
    changes: rules,
    notes: [`it is ${state}, and stays so`],
    seen: tag,
    resource: `/rollouts/${rolloutId}`,
    carryOut: () => changeSeen(change, isDone),
  } as const;
  return [...unseen, { step }];
}

function subjectChange({ value, written }: Entry<Wanted>, { operation, subject }: Present): Change[] {
  const wanted = subjectOf(value);
  const isSame = value.parameters === undefined || wanted === undefined || wanted === subject;
  return isSame || value.operation !== operation
    ? []
    : [{ field: 'parameters', before: subject, after: written.parameters }];
}

/** Cancels a rollout, and starts it anew. Interrupted in between, the next plan starts it. */
function replacement(
  application: Application,
  { entry, answer, changes }: { entry: Entry<Wanted>; answer: Present; changes: readonly Change[] },
): Finding[] {
  const about = described(entry);
  const { rolloutId } = answer;
  const fields = changes.map(({ field }) => field).join(', ');
  if (!entry.value.replace)
    return refuse(about, `${fields}: cannot be changed; with replace: true it is cancelled, and started anew`);
  const body = bodyOf(entry);
  if (typeof body === 'string') return refuse(about, body);
  const seen = stateOf(answer);
  const step = {
    ...about,
    action: 'replace',
    changes,
    notes: [`${rolloutId} is cancelled, and another one is started`],
    seen,
    resource: `/rollouts/${rolloutId}`,
    async carryOut(): Promise<void> {
      if (stateOf((await readOf(application, rolloutId)).answer) !== seen) throw new Conflict();
      await application.call(`cancel the rollout ${rolloutId}`, (lapel) => lapel.cancelRollout({ rolloutId }));
      const rows = await rolloutsOf(application);
      await start(application, body, keyOf(application, { body, rows }));
    },
  } as const;
  return [{ step }];
}
