import type { RolloutAbortState, RolloutHealthState } from '../contracts/types.ts';
import { ruleNameText, valueText } from './rollout-health.ts';

const counted = (many: number, one: string): string => `${many} ${one}${many === 1 ? '' : 's'}`;

/** How far the abort rule is from stopping a rollout: `3 of 20 results failed; stops at 5`. */
export function abortText(state: NonNullable<RolloutAbortState>): string {
  const { failures, results, stopsAt, acceptedFailures, acceptedResults } = state;
  const stops = stopsAt === null ? 'cannot stop it any more' : `stops at ${counted(stopsAt, 'failure')}`;
  const accepted =
    acceptedResults === 0
      ? ''
      : ` (${acceptedFailures} of the ${counted(acceptedResults, 'result')} before were accepted)`;
  return `${failures} of ${counted(results, 'result')} failed; ${stops}${accepted}`;
}

/** How far a health rule is from stopping it: `silent devices: 5 % of 20 devices; stops above 10 %`. */
export function healthDistanceText({ rule, treated, control, stopsAt }: RolloutHealthState): string {
  const { measure, minimumDevices, timesControl } = rule;
  const now = `${ruleNameText(rule)}: ${valueText(measure, treated.value)} of ${counted(treated.devices, 'device')}`;
  const limit = stopsAt === null ? 'its limit is not known yet' : `stops above ${valueText(measure, stopsAt)}`;
  const isFew = treated.devices < minimumDevices;
  const isFewBeside = timesControl !== undefined && control.devices < minimumDevices;
  const few = isFew || isFewBeside ? `, from ${counted(minimumDevices, 'device')} on` : '';
  return `${now}; ${limit}${few}`;
}
