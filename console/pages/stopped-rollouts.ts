import { a, type Child, div, small, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { addressOf } from '../base/place.ts';
import { operation, readPage } from '../base/requests.ts';
import { countsWords, hasStoppedItself, nameOf, reasonWords } from '../base/rollout-words.ts';
import type { RolloutRow } from '../base/rows.ts';
import { named } from '../parts/named.ts';
import { rolloutBar } from '../parts/rollout-bar.ts';
import { aboutRollout } from '../parts/rollout-rows.ts';
import { card, said } from '../parts/show.ts';
import { rowsTable } from '../parts/table.ts';

/** Milliseconds between two reads. */
const READ_EVERY = 15_000;
/** The paused rollouts among which those that stopped themselves are looked for, and the most that are shown. */
const LOOKED_AT = 100;
const MOST = 5;

/** The rollouts that the service has paused by itself, so that somebody has to decide; nothing when there are none. */
function StoppedRollouts(): Child {
  const page = useLoad(
    'stopped rollouts',
    (signal) =>
      readPage<RolloutRow>(operation('listFleetRollouts'), 'rollouts', {
        query: { state: 'paused', limit: LOOKED_AT },
        signal,
      }),
    { every: READ_EVERY },
  );
  const stopped = (page.state.value.value?.rows ?? []).filter(hasStoppedItself);
  if (stopped.length === 0) return null;
  return card(
    {
      title: 'Rollouts that have stopped',
      bare: true,
      side: a({ class: 'small', href: addressOf(['rollouts'], { state: 'paused' }) }, 'All paused rollouts'),
    },
    rowsTable({
      label: 'Rollouts that have stopped',
      rows: stopped.slice(0, MOST),
      keyOf: ({ rolloutId }) => rolloutId,
      columns: [
        {
          name: 'Rollout',
          kind: 'lead',
          cell: (row) => [
            a({ href: addressOf(['rollouts', row.rolloutId]) }, said(nameOf(row))),
            small(null, aboutRollout(row)),
          ],
        },
        {
          name: 'Application',
          cell: ({ applicationId }) => named('applications', applicationId),
        },
        { name: 'Why', cell: ({ reason }) => div({ class: 'fault' }, reasonWords(reason!)) },
        {
          name: 'Progress',
          cell: ({ counts }) => div({ class: 'stack tight' }, rolloutBar(counts), small(null, countsWords(counts))),
        },
      ],
    }),
  );
}

export const stoppedRollouts = (): VNode => use(StoppedRollouts, {});
