import type { Child } from '../base/elements.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { textField } from './fields.ts';
import { whole } from './rollout-fields.ts';

/** The field for the most devices that may be carrying out a command. `isNew`: empty stands for a usual bound. */
export const placesField = (
  { maxUnfinished }: Pick<RolloutDetails['rules'], 'maxUnfinished'>,
  { isNew = false } = {},
): Child =>
  textField(
    {
      name: 'maxUnfinished',
      label: 'Devices at a time, at most',
      value: String(maxUnfinished ?? ''),
      hint: isNew ? 'Empty: 100 with an abort rule, else no bound.' : 'Empty: no bound.',
    },
    whole(1, 100_000),
  );
