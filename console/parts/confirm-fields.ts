import { CONFIRMED_OPERATIONS, VERSION_OPERATIONS } from '@lapel/schemas/base/rollouts';
import type { Child } from '../base/elements.ts';
import type { RolloutCreate } from '../base/rows.ts';
import { given, numberOf } from '../base/typed.ts';
import { choice, tick } from './fields.ts';

type Operation = RolloutCreate['operation'];

/** The times within which a device has to be seen again, in seconds. */
const TIMES = [
  ['', 'its answer is enough'],
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['86400', '1 day'],
  ['604800', '7 days'],
] as const;
const USUAL = '86400';

/** The fields that say when a success is final; none for operations that leave a device where it is. */
export function confirmFields(operation: Operation): Child[] {
  if (!CONFIRMED_OPERATIONS.includes(operation)) return [];
  return [
    choice(
      {
        name: 'seenAgainWithin',
        label: 'Succeeded when it is seen again within',
        value: USUAL,
        hint: 'A device that answers and then stays away has failed, with SILENT.',
      },
      TIMES,
    ),
    VERSION_OPERATIONS.includes(operation)
      ? tick({ name: 'versionKept', label: 'and when it reports the version, else VERSION_LOST' })
      : null,
  ];
}

/** Reads the fields; undefined when an answer is enough. */
export function readConfirm(data: FormData): RolloutCreate['confirm'] {
  const seenAgainWithin = numberOf(data, 'seenAgainWithin');
  if (seenAgainWithin === undefined) return undefined;
  return given({ seenAgainWithin, versionKept: data.has('versionKept') || undefined }) as RolloutCreate['confirm'];
}
