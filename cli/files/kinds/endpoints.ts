import type { Operations } from '@lapel/client/operations';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Application } from '../../account/access.ts';
import { changesOf, digestOf, fieldsOf, pick } from '../plan/compare.ts';
import { Conflict, changeSeen, tagOf } from '../plan/conflict.ts';
import type { ApplicationContext } from '../plan/context.ts';
import { type Finding, notTouched, refuse, UNCHANGED } from '../plan/plan.ts';
import { openSecretFile, type SecretFile } from '../plan/secret-file.ts';
import type { Entry } from '../read/configuration.ts';

type Wanted = SchemaTypes['files/endpoint'];
type Present = Operations['readEndpoint']['answer'];

/** The fields that a change can change. */
const FIELDS = ['description', 'url', 'types', 'ordered', 'ratePerSecond', 'enabled'] as const;
/** The fields that are given when an endpoint is made. */
const NEW = [...FIELDS, 'signatures'] as const;

const nameOf = ({ endpointId, description }: Pick<Wanted, 'endpointId' | 'description'>): string =>
  description || (endpointId ?? '');
const described = ({ written, place }: Entry<Wanted>) => ({ kind: 'endpoint', name: nameOf(written), place }) as const;

/** The endpoints that an entry means: that of its id, else those with its description. */
const meant = (all: readonly Present[], { endpointId, description }: Wanted): Present[] =>
  all.filter((one) => (endpointId === undefined ? one.description === description : one.endpointId === endpointId));

const listOf = async (application: Application): Promise<Present[]> =>
  (await application.call('list the endpoints', (lapel) => lapel.listEndpoints())).endpoints;

/** Reads an endpoint with its tag; the list has no tags. */
async function readOf(application: Application, one: Present) {
  const { endpointId } = one;
  const what = `read the endpoint ${nameOf(one)}`;
  const { answer, tag } = await application.call(what, (lapel) => lapel.tagged('readEndpoint', { endpointId }));
  return { answer, tag: tagOf(`the endpoint ${nameOf(one)}`, tag) };
}

/** Compares the endpoints of the application. */
export async function planEndpoints({ application, configuration }: ApplicationContext): Promise<Finding[]> {
  const isExclusive = configuration.exclusive.has('endpoints');
  if (configuration.endpoints.length === 0 && !isExclusive) return [];
  const all = await listOf(application);
  const named = new Set<string>();
  const findings: Finding[] = [];
  for (const entry of configuration.endpoints) {
    const [found, ...others] = meant(all, entry.value);
    for (const one of [found, ...others]) if (one) named.add(one.endpointId);
    if (others.length > 0) {
      const reason = `${others.length + 1} endpoints have this description; name one by its endpointId`;
      findings.push(...refuse(described(entry), reason));
    } else if (entry.value.absent) findings.push(found ? await removal(application, found, entry) : UNCHANGED);
    else findings.push(...(found ? await change(application, { found, entry }) : creation(application, entry)));
  }
  const rest = all.filter(({ endpointId }) => !named.has(endpointId));
  if (!isExclusive) return [...findings, ...notTouched('endpoint', rest.map(nameOf))];
  for (const one of rest) findings.push(await removal(application, one));
  return findings;
}

async function removal(application: Application, found: Present, entry?: Entry<Wanted>): Promise<Finding> {
  const { endpointId } = found;
  const { answer, tag } = await readOf(application, found);
  const remove = () =>
    application.call(`remove the endpoint ${nameOf(found)}`, (lapel) =>
      lapel.deleteEndpoint({ endpointId, ifMatch: tag }),
    );
  const isDone = async () => (await listOf(application)).every((one) => one.endpointId !== endpointId);
  const step = {
    kind: 'endpoint',
    name: nameOf(found),
    place: entry?.place ?? null,
    action: 'remove',
    changes: [{ field: 'url', before: answer.url }],
    notes: [entry ? 'the file says absent' : 'the list of endpoints is exclusive'],
    seen: tag,
    resource: `/endpoints/${endpointId}`,
    carryOut: () => changeSeen(remove, isDone),
  } as const;
  return { step };
}

const secretOf = ({ value, path }: Entry<Wanted>): SecretFile | undefined =>
  value.secretTo === undefined ? undefined : openSecretFile(value.secretTo, path);

function creation(application: Application, entry: Entry<Wanted>): Finding[] {
  const { value, written } = entry;
  const about = described(entry);
  const { url } = value;
  if (value.endpointId !== undefined) return refuse(about, `the application has no endpoint ${value.endpointId}`);
  if (url === undefined) return refuse(about, 'a new endpoint needs a url');
  const secret = value.signatures?.[0] === 'v1a' ? null : secretOf(entry);
  if (secret === undefined)
    return refuse(about, 'a new endpoint with a secret needs secretTo: the service shows it only once');
  if (secret?.exists) return refuse(about, `${secret.name} exists, and is not overwritten; move it away`);
  const body = { ...pick(value, NEW), url };
  const create = () => application.call(`make the endpoint ${about.name}`, (lapel) => lapel.createEndpoint({ body }));
  const step = {
    ...about,
    action: 'create',
    changes: fieldsOf(NEW, written),
    notes: secret ? [`its secret is written to ${secret.name}`] : [],
    seen: 'absent',
    resource: '/endpoints',
    async carryOut(): Promise<void> {
      // The service has no key for this call, so a repetition would make a second endpoint of this description.
      if (meant(await listOf(application), value).length > 0)
        throw new Conflict('it was made after the plan had read the endpoints');
      if (secret) await secret.receive(async () => String((await create()).secret));
      else await create();
    },
  } as const;
  return [{ step }];
}

async function change(
  application: Application,
  { found, entry }: { found: Present; entry: Entry<Wanted> },
): Promise<Finding[]> {
  const { endpointId } = found;
  const about = described(entry);
  const { answer, tag } = await readOf(application, found);
  const ofSecret = secretChange(application, { answer, entry });
  const changes = changesOf(FIELDS, entry, answer);
  if (changes.length === 0) return ofSecret.some((one) => 'step' in one) ? ofSecret : [...ofSecret, UNCHANGED];
  const enables = changes.some(({ field, after }) => field === 'enabled' && after === true);
  if (enables && entry.value.missed === undefined) {
    const reason = `it is disabled (${String(answer.disabledReason)}); write missed: send or skip, or enabled: false`;
    return refuse(about, reason);
  }
  const changed = changes.map(({ field }) => field as (typeof FIELDS)[number]);
  const body = { ...pick(entry.value, changed), ...(enables && pick(entry.value, ['missed'])) };
  const update = () =>
    application.call(`change the endpoint ${about.name}`, (lapel) =>
      lapel.updateEndpoint({ endpointId, body, ifMatch: tag }),
    );
  const isDone = async () => {
    const now = (await listOf(application)).find((one) => one.endpointId === endpointId);
    return now !== undefined && changesOf(FIELDS, entry, now).length === 0;
  };
  const step = {
    ...about,
    action: 'change',
    changes,
    notes: [],
    seen: tag,
    resource: `/endpoints/${endpointId}`,
    carryOut: () => changeSeen(update, isDone),
  } as const;
  return [...ofSecret, { step }];
}

/** Another secret, when another scheme is wanted, or when an apply was interrupted before it had written the first. */
function secretChange(
  application: Application,
  { answer, entry }: { answer: Present; entry: Entry<Wanted> },
): Finding[] {
  const { endpointId } = answer;
  const about = described(entry);
  const scheme = entry.value.signatures?.[0] ?? answer.signatures[0];
  const secret = scheme === 'v1' ? secretOf(entry) : undefined;
  const changes = changesOf(['signatures'], entry, answer);
  const isLost = secret?.isLost === true;
  const notCompared = (reason: string): Finding[] => [{ notCompared: { ...about, field: 'secretTo', reason } }];
  if (changes.length === 0 && !isLost) {
    if (!secret) return [];
    if (secret.exists) return notCompared('the service never shows it');
    const remedy = 'the service shows a secret only once; lapel endpoint secret makes another';
    return notCompared(`there is no ${secret.name}, and ${remedy}`);
  }
  if (scheme === 'v1' && (!secret || secret.exists))
    return refuse(about, 'another secret needs secretTo, with the name of a file that does not exist');
  const issue = () =>
    application.call(`replace the secret of the endpoint ${about.name}`, (lapel) =>
      lapel.replaceEndpointSecret({ endpointId, body: scheme === undefined ? {} : { signatures: [scheme] } }),
    );
  const stateOf = (one: Present): string => digestOf([one.signatures, one.secretReplacedAt]);
  const seen = stateOf(answer);
  const step = {
    ...about,
    action: 'replace',
    changes: [...changes, { field: 'secret', before: 'the present one', after: 'another one' }],
    notes: [
      ...(isLost ? ['an apply was interrupted before it had written the secret'] : []),
      'the former one signs as well for a day',
    ],
    seen,
    resource: `/endpoints/${endpointId}/secret`,
    async carryOut(): Promise<void> {
      if (stateOf((await readOf(application, answer)).answer) !== seen) throw new Conflict();
      if (secret) await secret.receive(async () => String((await issue()).secret));
      else await issue();
    },
  } as const;
  return [{ step }];
}
