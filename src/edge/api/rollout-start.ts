import { CONFIRMED_OPERATIONS, NETWORK_OPERATIONS, VERSION_OPERATIONS } from '@lapel/schemas/base/rollouts';
import type { Contracts, SchemaName } from '@lapel/schemas/contracts/contracts';
import { DomainError, type Fault } from '@lapel/schemas/contracts/errors';
import type { RolloutCreate, RolloutDryRun } from '@lapel/schemas/contracts/types';
import type { Prepared } from '../../core/rollouts/creation.ts';
import type { HealthRule, Rate, Rollout, RolloutOperation, Window } from '../../core/rollouts/rollout.ts';
import { warningsOf } from '../../core/rollouts/warnings.ts';
import { isTimeZone } from '../../core/rollouts/window.ts';
import { readSelector } from '../../core/selection/read-selector.ts';
import type { Terms } from '../../core/transactions/terms.ts';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { healthFaults } from '../http/health-faults.ts';
import { readMoment } from '../http/moment.ts';
import type { Answer } from '../http/route.ts';
import { answeredOnce } from './answered-once.ts';
import { countAnswer } from './device-count.ts';
import { type ApiServices, type AtApplication, personOf } from './services.ts';

type Services = Pick<ApiServices, 'rollouts' | 'contracts' | 'transactions' | 'clock' | 'selection'>;
type Wanted = Parameters<ApiServices['rollouts']['create']>[0];

/** The schema of the body of each operation. */
const SCHEMAS: Record<RolloutOperation, SchemaName> = {
  setApn: 'rest/apn-settings',
  setWifi: 'rest/wifi-settings',
  setLanguage: 'rest/language-setting',
  setConnectivityState: 'rest/connectivity-state',
  installSoftware: 'rest/install-request',
  updateFirmware: 'rest/install-request',
  collectDiagnostics: 'rest/diagnostics-request',
};

export function windowFaults(window: Pick<Window, 'timeZone'> | null | undefined): Fault[] {
  if (!window || isTimeZone(window.timeZone)) return [];
  const msg = 'Input should be the IANA name of a time zone';
  return [{ loc: ['body', 'window', 'timeZone'], msg, type: 'string_pattern_mismatch' }];
}

/** A rate that would fall. */
export function rateFaults(rate: unknown): Fault[] {
  const { from, to } = (rate ?? {}) as { from?: number; to?: number };
  if (from === undefined || to === undefined || from <= to) return [];
  const msg = 'Input should be from at least';
  return [{ loc: ['body', 'ratePerMinute', 'to'], msg, type: 'greater_than_equal' }];
}

/** A confirmation that no device could give, because the operation leaves it where it is, or gives it no version. */
export function confirmFaults({ operation, confirm }: Pick<RolloutCreate, 'operation' | 'confirm'>): Fault[] {
  const fault = (operations: readonly string[], ...path: string[]): Fault[] => {
    const msg = `Input should be given for ${operations.join(', ')} only`;
    return [{ loc: ['body', 'confirm', ...path], msg, type: 'extra_forbidden' }];
  };
  if (!confirm) return [];
  if (!CONFIRMED_OPERATIONS.includes(operation)) return fault(CONFIRMED_OPERATIONS);
  if (confirm.versionKept && !VERSION_OPERATIONS.includes(operation)) return fault(VERSION_OPERATIONS, 'versionKept');
  return [];
}

/** A way back that no device could take by itself, because the operation leaves its network as it is. */
export function revertAfterFaults({
  operation,
  revertAfter,
}: Pick<RolloutCreate, 'operation' | 'revertAfter'>): Fault[] {
  if (revertAfter === undefined || NETWORK_OPERATIONS.includes(operation)) return [];
  const msg = `Input should be given for ${NETWORK_OPERATIONS.join(', ')} only`;
  return [{ loc: ['body', 'revertAfter'], msg, type: 'extra_forbidden' }];
}

const termsOf = ({ expireIn, answerWithin, supersede, revertAfter }: RolloutCreate): Terms => ({
  ...(expireIn !== undefined && { expireIn }),
  ...(answerWithin !== undefined && { answerWithin }),
  ...(supersede === true && { supersede }),
  ...(revertAfter !== undefined && { revertAfter }),
});

/** Checks the parts of a request that its schema cannot check. Throws REQUEST_INVALID with every fault. */
function checkCreate(contracts: Contracts, body: RolloutCreate, now: number): void {
  const faults = contracts.faults(SCHEMAS[body.operation], body.parameters, 'body', 'parameters');
  faults.push(...windowFaults(body.window), ...rateFaults(body.ratePerMinute), ...confirmFaults(body));
  faults.push(...revertAfterFaults(body), ...healthFaults(body.health));
  if (body.revert !== undefined && body.health === undefined) {
    const msg = 'Input should be given with health only';
    faults.push({ loc: ['body', 'revert'], msg, type: 'extra_forbidden' });
  }
  if (faults.length > 0) throw DomainError.invalid(...faults);
  readSelector(body.devices, now);
}

function wantedOf(body: RolloutCreate, owner: Pick<Wanted, 'applicationId' | 'developerId'>): Wanted {
  const { operation, parameters, devices, stages = [], label = null, startAt } = body;
  const { ratePerMinute, maxUnfinished, window, abort, retry, confirm, health, revert } = body;
  const { continuous, preferConnected } = body;
  return {
    ...owner,
    label,
    operation,
    asked: parameters,
    selector: devices,
    stages: stages as Wanted['stages'],
    terms: termsOf(body),
    ...(ratePerMinute !== undefined && { ratePerMinute: ratePerMinute as Rate }),
    ...(maxUnfinished !== undefined && { maxUnfinished }),
    ...(window && { window: window as Window }),
    ...(startAt !== undefined && { startAt: readMoment(startAt, 'body', 'startAt') }),
    ...(abort && { abort }),
    ...(retry && { retry }),
    ...(confirm && { confirm }),
    ...(health && { health: health as readonly HealthRule[] }),
    ...(revert && { revert }),
    ...(continuous === true && { continuous }),
    ...(preferConnected === true && { preferConnected }),
  };
}

/** Answers what a rollout would be. Nothing of it is stored. */
async function dryRun({ rollouts, selection, clock }: Services, body: RolloutCreate, wanted: Wanted): Promise<Answer> {
  const prepared = await rollouts.preview(wanted);
  const installed = body.operation === 'installSoftware' ? (body.parameters as { package: string }).package : undefined;
  const selector = readSelector(body.devices, clock.now());
  const { versions, firmwareVersions, estimate } = countAnswer(
    await selection.count(wanted.applicationId, selector, installed),
    installed !== undefined,
  );
  const { plan, found, connected, overlaps } = prepared;
  const answer: RolloutDryRun = {
    devices: found.length,
    connected,
    stages: plan.stages.map(({ devices }) => devices),
    ...(plan.maxUnfinished !== undefined && { maxUnfinished: plan.maxUnfinished }),
    estimate,
    ...(versions && { versions }),
    firmwareVersions,
    overlaps: overlaps.map(({ rolloutId, label, state, devices }) => ({
      rolloutId,
      label,
      state: state as RolloutDryRun['overlaps'][number]['state'],
      devices,
    })),
    warnings: warningsOf(prepared),
  };
  return { status: 200, body: answer };
}

/** Starts a rollout, or answers what it would be. */
export async function startRollout(services: Services, input: AtApplication<'rest/rollout-create'>): Promise<Answer> {
  const { rollouts, contracts, clock, transactions } = services;
  const { caller, baseUrl, headers, changed } = input;
  const { dryRun: isDry = false, ...body } = input.body;
  const { applicationId, developerId } = caller;
  const { operation } = body;
  checkCreate(contracts, body, clock.now());
  const person = personOf(caller);
  const wanted = { ...wantedOf(body, { applicationId, developerId }), ...(person && { startedBy: person }) };
  if (isDry) {
    const answer = await dryRun(services, body, wanted);
    await changed({ dryRun: true, operation, devices: (answer.body as RolloutDryRun).devices });
    return answer;
  }
  const answerOf = (made: Rollout, prepared: Prepared) => ({
    status: 201,
    headers: { Location: `${baseUrl}/v1/applications/${applicationId}/rollouts/${made.rolloutId}` },
    body: { rolloutId: made.rolloutId, devices: made.devices, warnings: warningsOf(prepared) },
  });
  const request = { applicationId, rollout: body };
  const answer = await answeredOnce<ReturnType<typeof answerOf>>(
    { transactions },
    applicationId,
    headers,
    request,
    async (keep) => {
      const also =
        keep && ((unit: UnitOfWork, made: Rollout, prepared: Prepared) => keep(unit, answerOf(made, prepared)));
      const { made, prepared } = await rollouts.create(wanted, also);
      return answerOf(made, prepared);
    },
  );
  const { rolloutId, devices } = answer.body;
  await changed({ operation, devices }, [{ kind: 'rollout', id: rolloutId }]);
  return answer;
}
