import type { Child } from '../base/elements.ts';
import type { RolloutCreate } from '../base/rows.ts';
import { typed } from '../base/typed.ts';
import { choice, tick } from './fields.ts';

type Rules = NonNullable<RolloutCreate['health']>;

/** How much worse than waiting devices those with the release may be, and the devices that must be known. */
const LIMIT = { timesControl: 2, minimumDevices: 20 } as const;
const SETS = {
  connection: [
    { measure: 'silent', ...LIMIT },
    { measure: 'reconnects', ...LIMIT },
  ],
  all: [
    { measure: 'silent', ...LIMIT },
    { measure: 'reconnects', ...LIMIT },
    { measure: 'failedCommands', ...LIMIT },
    { measure: 'batteryDrop', ...LIMIT },
    { measure: 'storageFree', ...LIMIT },
  ],
} satisfies Record<string, Rules>;

/** The fields that say by what health of devices a rollout stops, and what happens then. */
export const healthFields = (): Child[] => [
  choice(
    {
      name: 'health',
      label: 'Stops when devices with the release are less well',
      value: '',
      hint: `Compared with devices of later stages that wait for it: at most twice as much, once ${LIMIT.minimumDevices} of both are known. The next stage waits for that.`,
    },
    [
      ['', 'never'],
      ['connection', 'silent, or connecting again and again'],
      ['all', 'also failing commands, battery and storage'],
    ],
  ),
  tick({ name: 'autoRevert', label: 'and then brings its devices back' }),
];

/** Reads the fields; nothing for no rule. */
export function readHealth(data: FormData): Pick<RolloutCreate, 'health' | 'revert'> {
  const health = (SETS as Record<string, Rules>)[typed(data, 'health') ?? ''];
  if (!health) return {};
  return { health, ...(data.has('autoRevert') && { revert: 'automatic' as const }) };
}
