import type { Contracts, SchemaName } from '@lapel/schemas/contracts/contracts';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { RolloutCreate } from '@lapel/schemas/contracts/types';
import type { Rollout, RolloutOperation, Window } from '../../core/rollouts/rollout.ts';
import type { By, RolloutChange } from '../../core/rollouts/rollouts.ts';
import { isTimeZone } from '../../core/rollouts/window.ts';
import { readSelector } from '../../core/selection/read-selector.ts';
import type { Terms } from '../../core/transactions/terms.ts';
import { changedValues } from '../http/changed-values.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { readIdempotencyKey } from '../http/idempotency-key.ts';
import { readMoment } from '../http/moment.ts';
import { nextPageAfter } from '../http/paging.ts';
import { rolloutDevicesAnswer } from '../http/rollout-answers.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication, AtRollout } from './services.ts';

type Services = Pick<ApiServices, 'rolloutViews' | 'rollouts' | 'contracts' | 'transactions' | 'clock'>;

/** The schema of the body of each operation. */
const SCHEMAS: Record<RolloutOperation, SchemaName> = {
  setApn: 'rest/apn-settings',
  setWifi: 'rest/wifi-settings',
  setLanguage: 'rest/language-setting',
  setConnectivityState: 'rest/connectivity-state',
  installSoftware: 'rest/install-request',
  updateFirmware: 'rest/install-request',
};

function windowFaults(window: Pick<Window, 'timeZone'> | null | undefined): Fault[] {
  if (!window || isTimeZone(window.timeZone)) return [];
  const msg = 'Input should be the IANA name of a time zone';
  return [{ loc: ['body', 'window', 'timeZone'], msg, type: 'string_pattern_mismatch' }];
}

const termsOf = ({ expireIn, answerWithin, supersede }: RolloutCreate): Terms => ({
  ...(expireIn !== undefined && { expireIn }),
  ...(answerWithin !== undefined && { answerWithin }),
  ...(supersede === true && { supersede }),
});

/** Checks the parts of a request that its schema cannot check. Throws REQUEST_INVALID with every fault. */
function checkCreate(contracts: Contracts, body: RolloutCreate, now: number): void {
  const faults = contracts.faults(SCHEMAS[body.operation], body.parameters, 'body', 'parameters');
  faults.push(...windowFaults(body.window));
  if (faults.length > 0) throw DomainError.invalid(...faults);
  readSelector(body.devices, now);
}

/** Starts a rollout. */
export async function startRollout(services: Services, input: AtApplication<'rest/rollout-create'>): Promise<Answer> {
  const { rollouts, transactions, contracts, clock } = services;
  const { body, caller, baseUrl, headers, changed } = input;
  const { applicationId, developerId } = caller;
  checkCreate(contracts, body, clock.now());
  const { operation, parameters, devices, stages = [], label = null, startAt } = body;
  const { ratePerMinute, window, abort, retry, continuous, preferConnected } = body;
  const wanted = {
    applicationId,
    developerId,
    label,
    operation,
    asked: parameters,
    selector: devices,
    stages: stages as Parameters<typeof rollouts.create>[0]['stages'],
    terms: termsOf(body),
    ...(ratePerMinute !== undefined && { ratePerMinute }),
    ...(window && { window }),
    ...(startAt !== undefined && { startAt: readMoment(startAt, 'body', 'startAt') }),
    ...(abort && { abort }),
    ...(retry && { retry }),
    ...(continuous === true && { continuous }),
    ...(preferConnected === true && { preferConnected }),
  };
  const answerOf = (made: { rolloutId: string; devices: number }): Answer => ({
    status: 201,
    headers: { Location: `${baseUrl}/v1/applications/${applicationId}/rollouts/${made.rolloutId}` },
    body: { rolloutId: made.rolloutId, devices: made.devices },
  });
  const key = readIdempotencyKey(headers['idempotency-key']);
  if (key === undefined) {
    const made = await rollouts.create(wanted);
    await changed({ operation, devices: made.devices }, [{ kind: 'rollout', id: made.rolloutId }]);
    return answerOf(made);
  }
  const request = JSON.stringify({ applicationId, rollout: body });
  const { answer, replayed } = await transactions.once({ applicationId, key, request }, async (keep) => {
    let text = '';
    await rollouts.create(wanted, (unit, made) => {
      text = JSON.stringify(answerOf(made));
      return keep(unit, text);
    });
    return text;
  });
  const kept = JSON.parse(answer) as Answer & { body: { rolloutId: string; devices: number } };
  const { rolloutId, devices: count } = kept.body;
  await changed({ operation, devices: count }, [{ kind: 'rollout', id: rolloutId }]);
  return replayed ? { ...kept, headers: { ...kept.headers, 'Idempotency-Replayed': 'true' } } : kept;
}

/** Lists the rollouts of the application, the newest first. */
export async function listRollouts(
  { rolloutViews }: Services,
  input: AtApplication<never, 'rest/rollout-query'>,
): Promise<Answer> {
  const { after, limit, ...filter } = input.query;
  const { rows, next } = await rolloutViews.list(
    { ...filter, applicationId: input.params.applicationId },
    { after, limit },
  );
  return {
    status: 200,
    headers: next === undefined ? {} : nextPageAfter(input, { limit }, { after: next }),
    body: { rollouts: rows },
  };
}

const by = ({ params }: Pick<AtRollout, 'params'>): By => ({
  applicationId: params.applicationId,
  actor: 'application',
});

/** The fields of a rollout that can be changed. */
const stateOf = ({ label, plan }: Rollout): unknown =>
  [label, plan.ratePerMinute, plan.abort, plan.window].map((part) => part ?? null);
const tagged = (rollout: Rollout): Record<string, string> => ({ ETag: entityTag(stateOf(rollout)) });

/** Shows a rollout. */
export async function readRollout({ rollouts, rolloutViews }: Services, { params }: AtRollout): Promise<Answer> {
  const rollout = await rollouts.find(params.rolloutId, params.applicationId);
  return { status: 200, headers: tagged(rollout), body: await rolloutViews.detail(rollout) };
}

/** Makes the handler of an action that answers with the rollout. */
function action(name: 'pause' | 'resume' | 'cancel', handlerName: string) {
  const handler = async ({ rollouts, rolloutViews }: Services, input: AtRollout): Promise<Answer> => {
    const rollout = await rollouts[name](input.params.rolloutId, by(input));
    return { status: 200, body: await rolloutViews.detail(rollout) };
  };
  return Object.defineProperty(handler, 'name', { value: handlerName });
}
export const pauseRollout = action('pause', 'pauseRollout');
export const resumeRollout = action('resume', 'resumeRollout');
export const cancelRollout = action('cancel', 'cancelRollout');

/** Approves the present stage, or the named one. */
export async function approveRollout(
  { rollouts, rolloutViews }: Services,
  input: AtRollout<'rest/rollout-approval'>,
): Promise<Answer> {
  const rollout = await rollouts.approve(input.params.rolloutId, by(input), input.body.stage);
  return { status: 200, body: await rolloutViews.detail(rollout) };
}

/** Changes the rules of a rollout that is paused or scheduled. */
export async function updateRollout(
  { rollouts, rolloutViews, contracts }: Services,
  input: AtRollout<'rest/rollout-update'>,
): Promise<Answer> {
  const { window, abort } = input.body;
  const faults = [
    ...(window ? contracts.faults('common/rollout-window', window, 'body', 'window') : []),
    ...(abort ? contracts.faults('common/rollout-abort', abort, 'body', 'abort') : []),
  ];
  if (faults.length === 0) faults.push(...windowFaults(window as Window | null | undefined));
  if (faults.length > 0) throw DomainError.invalid(...faults);
  const check = matcher(input.headers);
  const change = input.body as RolloutChange;
  let before: Rollout | undefined;
  const rollout = await rollouts.update(input.params.rolloutId, by(input), change, (known) => {
    before = known;
    check(stateOf(known));
  });
  const values = ({ label, plan }: Rollout): object => ({ ...before?.plan, label, ...plan });
  await input.changed(changedValues(before ? values(before) : {}, values(rollout)));
  return { status: 200, headers: tagged(rollout), body: await rolloutViews.detail(rollout) };
}

/** Lets failed devices have another command. */
export async function retryRollout({ rollouts }: Services, input: AtRollout<'rest/rollout-retry'>): Promise<Answer> {
  const devices = await rollouts.retryFailed(input.params.rolloutId, by(input), input.body.code);
  return { status: 200, body: { devices } };
}
/** Lists the devices of a rollout; as CSV if the caller accepts only that. */
export async function listRolloutDevices(
  { rollouts, rolloutViews }: Services,
  input: AtRollout<never, 'rest/rollout-device-query'>,
): Promise<Answer> {
  const { rolloutId } = await rollouts.find(input.params.rolloutId, input.params.applicationId);
  return rolloutDevicesAnswer(rolloutViews, rolloutId, input);
}

/** Reads the results of a rollout over time. */
export async function readRolloutResults({ rollouts, rolloutViews }: Services, { params }: AtRollout): Promise<Answer> {
  return {
    status: 200,
    body: await rolloutViews.results(await rollouts.find(params.rolloutId, params.applicationId)),
  };
}
