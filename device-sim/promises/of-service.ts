import { type Promised, promisesOf } from './promise.ts';

const { seen } = promisesOf('qa.md');
const { tested } = promisesOf('operations.md');
const RESTORE = 'what-is-lost-then-and-who-sees-what';

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
  tested('After a restore from a backup no number is given again.', RESTORE, 'flow/restore.test.ts'),
  tested('What was stored before a backup is owed after its restore.', RESTORE, 'simulation/simulation.test.ts'),
];
