import { type Promised, promisesOf } from './promise.ts';

const { seen } = promisesOf('qa.md');

/** The promises about the service as a whole. The simulator looks at them from outside while a run lasts. */
export const OF_SERVICE: readonly Promised[] = [
  seen(
    'The service does not stand still, neither for a second nor for parts of each second.',
    'what-is-not-the-services-fault',
    ['service-answers', 'service-halts'],
    'smoke',
  ),
  seen(
    'The memory of the service does not grow without end.',
    'what-is-not-the-services-fault',
    'service-memory',
    'smoke',
  ),
  seen('The service does not end by itself.', 'the-faults-of-the-service', 'service-ends', 'outage'),
];
