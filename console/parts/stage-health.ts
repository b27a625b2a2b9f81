import { healthLines } from '@lapel/schemas/base/rollout-health';
import { details, p, summary, type VNode } from '../base/elements.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { age } from './show.ts';
import { rowsTable } from './table.ts';

/** How the devices of a stage are that have the release, beside those that wait for it. */
export const stageHealth = (
  { at, treated, control }: NonNullable<RolloutDetails['stages'][number]['health']>,
  label: string,
): VNode =>
  details(
    { open: true },
    summary(null, 'Health'),
    rowsTable({
      label,
      rows: healthLines(treated, control).map(([name, ours, theirs]) => ({ name, ours, theirs })),
      keyOf: ({ name }) => name,
      columns: [
        { name: '', kind: 'lead', cell: ({ name }) => name },
        { name: 'With the release', kind: 'right', cell: ({ ours }) => ours },
        { name: 'Waiting', kind: 'right', cell: ({ theirs }) => theirs, isEmpty: ({ theirs }) => theirs === '' },
      ],
    }),
    p({ class: 'small quiet' }, 'Looked at ', age(at), '.'),
  );
