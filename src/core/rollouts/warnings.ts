import { CONFIRMED_OPERATIONS } from '@lapel/schemas/base/rollouts';
import type { RolloutWarnings } from '@lapel/schemas/contracts/types';
import type { Prepared } from './creation.ts';
import type { HealthRule, Plan } from './rollout.ts';

/** A part of a new rollout that its developer may not have meant. */
type RolloutWarning = RolloutWarnings[number];

/** Health rules that never know enough devices before the last stage begins, and what follows. */
function unreached({ stages, health = [] }: Plan): RolloutWarning[] {
  const before = stages.slice(0, -1).reduce((sum, { devices }) => sum + devices, 0);
  const last = stages.at(-1)?.devices ?? 0;
  const about = (rules: readonly HealthRule[], say: (measures: string) => string): RolloutWarning[] =>
    rules.length === 0
      ? []
      : [{ code: 'HEALTH_RULE_OUT_OF_REACH', message: say(rules.map(({ measure }) => measure).join(', ')) }];
  const isUncompared = ({ minimumDevices, timesControl }: HealthRule): boolean =>
    stages.length > 1 && timesControl !== undefined && last < minimumDevices;
  return [
    ...about(
      health.filter((rule) => before < rule.minimumDevices),
      (measures) =>
        `Too few devices have the release before the last stage begins: ${measures} stops no stage before it.`,
    ),
    ...about(
      health.filter(isUncompared),
      (measures) =>
        `The last stage has too few devices to compare the one before with: ${measures} then pauses the rollout with HEALTH_UNKNOWN.`,
    ),
  ];
}

/** With fewer devices in the first stage, one faulty device looks like a faulty release. */
const SMALL_STAGE = 20;

/** The codes of failures that come by a rule of the rollout only, with the member that asks for it. */
const GIVEN_BY: readonly [code: string, member: string, isGiven: (plan: Plan) => boolean][] = [
  ['EXPIRED', 'expireIn', ({ terms }) => terms.expireIn !== undefined],
  ['NO_ANSWER', 'answerWithin', ({ terms }) => terms.answerWithin !== undefined],
  ['SILENT', 'confirm', ({ confirm }) => confirm !== undefined],
  ['VERSION_LOST', 'versionKept of confirm', ({ confirm }) => confirm?.versionKept === true],
  ['REVERTED', 'revertAfter', ({ terms }) => terms.revertAfter !== undefined],
];

/** A device that goes back answers after that time: without room for it, the service has given up the answer before. */
function tooShort({ terms: { answerWithin, revertAfter } }: Plan): RolloutWarning[] {
  if (answerWithin === undefined || revertAfter === undefined || answerWithin > revertAfter) return [];
  const message = `A device that goes back after ${revertAfter} seconds has failed with NO_ANSWER after ${answerWithin}: answerWithin needs more than revertAfter.`;
  return [{ code: 'NO_ANSWER_BEFORE_REVERT', message }];
}

/** Codes that a rule names, and no device of the rollout can get. */
function neverComing(plan: Plan): RolloutWarning[] {
  const named = new Set([...(plan.abort?.codes ?? []), ...(plan.retry?.codes ?? [])]);
  return GIVEN_BY.flatMap(([code, member, isGiven]) =>
    named.has(code) && !isGiven(plan)
      ? [
          {
            code: 'CODE_NEVER_COMES' as const,
            message: `A rule names ${code}, which no device gets without ${member}.`,
          },
        ]
      : [],
  );
}

function aboutStages({ plan, found }: Prepared): RolloutWarning[] {
  const [first] = plan.stages;
  if (!first || found.length <= SMALL_STAGE || first.devices >= SMALL_STAGE) return [];
  const message = `The first stage has ${first.devices} devices: with fewer than ${SMALL_STAGE}, one faulty device looks like a faulty release.`;
  return [{ code: 'SMALL_FIRST_STAGE', message }];
}

/** The parts of a new rollout that its developer may not have meant. None of them stops it. */
export function warningsOf(prepared: Prepared): RolloutWarning[] {
  const { operation, plan, overlaps } = prepared;
  const devices = prepared.found.length;
  const { confirm, abort, continuous, startAt } = plan;
  const warnings: RolloutWarning[] = [];
  if (devices === 0 && !continuous) warnings.push({ code: 'NO_DEVICES', message: 'The selector matches no device.' });
  if (devices > 0 && prepared.connected === 0 && startAt === undefined)
    warnings.push({ code: 'NOBODY_CONNECTED', message: 'None of the devices is connected now.' });
  if (!confirm && CONFIRMED_OPERATIONS.includes(operation))
    warnings.push({
      code: 'NOT_CONFIRMED',
      message: `A device counts as succeeded although ${operation} may have cut it off: confirm waits until it is seen again.`,
    });
  if (!abort)
    warnings.push({ code: 'NO_ABORT_RULE', message: 'No number of failures stops this rollout: abort does.' });
  else if (devices > 0 && devices < abort.minimumResults && !continuous)
    warnings.push({
      code: 'ABORT_RULE_OUT_OF_REACH',
      message: `The abort rule can never stop it: it needs ${abort.minimumResults} results, and the rollout has ${devices} devices.`,
    });
  if (devices > 0) warnings.push(...unreached(plan));
  warnings.push(...neverComing(plan), ...tooShort(plan), ...aboutStages(prepared));
  for (const { rolloutId, label, state, devices: both } of overlaps)
    warnings.push({
      code: 'OVERLAP',
      message: `Rollout ${rolloutId}${label === null ? '' : ` (${label})`} is ${state} and changes the same on ${both} of the devices.`,
    });
  return warnings;
}
