import { OPERATIONS } from '../customer/operator.ts';
import type { Scenario } from './scenario.ts';
import { isWorn } from './wearing.ts';

/** Whether the scenario has what only a customer can do: activation, programs, or an action that is not the wearer's. */
export const needsCustomer = ({ activate, phases, programs }: Scenario): boolean =>
  activate ||
  programs.length > 0 ||
  phases.some(({ actions, rollouts }) => rollouts.length > 0 || actions.some((action) => !isWorn(action.do)));

/** Actions after which other devices are activated. */
const MOVING: readonly string[] = [
  'activate',
  'deactivate',
  ...Object.keys(OPERATIONS).filter((name) => name !== 'newCredential'),
];
/** Whether the devices stay activated for the whole run. */
export const devicesStay = ({ phases }: Scenario): boolean =>
  !phases.some(({ actions }) => actions.some((action) => MOVING.includes(action.do)));
