import { OF_APPLICATIONS } from './of-applications.ts';
import { OF_DEVICES } from './of-devices.ts';
import { OF_EVENTS } from './of-events.ts';
import { OF_ROLLOUTS } from './of-rollouts.ts';
import { OF_SERVICE } from './of-service.ts';
import type { Promised } from './promise.ts';

/**
 * The promises of the service, with the checks of the simulator that hold each of them and the scenarios that play it.
 * `npm run generate` writes docs/contributing/promises.md from this list.
 */
export const PROMISES: readonly Promised[] = [
  ...OF_DEVICES,
  ...OF_APPLICATIONS,
  ...OF_EVENTS,
  ...OF_ROLLOUTS,
  ...OF_SERVICE,
];
