import { HEALTH_MEASURES } from '@lapel/schemas/base/rollouts';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type Given, readWhole } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { UsageError } from '../line/usage-error.ts';

type Create = SchemaTypes['rest/rollout-create'];

// The number of devices before which a health rule does not count, when the command line does not say it.
const MINIMUM_DEVICES = 20;

/** The options about the health of devices that have the release. */
export const HEALTH_OPTIONS = {
  health: {
    value: 'MEASURE=LIMIT',
    many: true,
    text: `pause when devices with the release are less well: ${HEALTH_MEASURES.join(', ')}; 10 is at most 10 (percent of the devices, or of a device and hour), 2x at most twice as much as devices that wait; events name their types, as events:custom.crash=2x; may be repeated`,
  },
  'health-after': { value: 'N', text: `not before so many devices are known (${MINIMUM_DEVICES}); needs --health` },
} satisfies Options;

type HealthRules = NonNullable<Create['health']>;

/** Reads the health rules. Throws a UsageError. */
export function readHealth(given: Given): Pick<Create, 'health'> {
  const after = given.text('health-after');
  const rules = given.list('health');
  if (after !== undefined && rules.length === 0) throw new UsageError('--health-after', 'needs --health');
  if (rules.length === 0) return {};
  const minimumDevices = after === undefined ? MINIMUM_DEVICES : readWhole('health-after', after);
  return {
    health: rules.map((text): HealthRules[number] => {
      const [about = '', limit = ''] = text.split('=', 2);
      const [name, ...types] = about.split(':');
      const measure = HEALTH_MEASURES.find((one) => one === name);
      const number = Number(limit.replace(/x$/u, ''));
      if (measure === undefined || !(number > 0))
        throw new UsageError('--health', `is a measure and its limit, as silent=10 or reconnects=2x, not ${text}`);
      return {
        measure,
        ...(types.length > 0 && { types: types.flatMap((each) => each.split(',')) as [string, ...string[]] }),
        ...(limit.endsWith('x') ? { timesControl: number } : { atMost: number }),
        minimumDevices,
      };
    }) as HealthRules,
  };
}
