import { a, type Child, div, li, p, ul, use, type VNode } from '../base/elements.ts';
import { count, counted, visible } from '../base/format.ts';
import { useLoad } from '../base/load.ts';
import { operationName } from '../base/operation-names.ts';
import { addressOf } from '../base/place.ts';
import { operation, read } from '../base/requests.ts';
import type { RolloutCreate, RolloutDryRun } from '../base/rows.ts';
import { loaded } from '../parts/loaded.ts';

/** The warnings that overlaps say themselves, by name. */
const OVERLAP = 'OVERLAP';

const stagesWords = (stages: readonly number[]): string =>
  stages
    .map((devices, index) => {
      const name =
        index === 0 ? 'The first stage' : index === stages.length - 1 ? 'the last one' : `stage ${index + 1}`;
      return `${name} has ${counted(devices, 'device')}`;
    })
    .join(', ');

const overlap = ({ rolloutId, label, state, devices }: RolloutDryRun['overlaps'][number]): VNode =>
  li(
    { key: rolloutId, class: 'wrap' },
    'The rollout ',
    a({ href: addressOf(['rollouts', rolloutId]) }, visible(label ?? rolloutId)),
    ` is ${state} and changes the same on ${counted(devices, 'device')}.`,
  );

/** Says what a rollout would be, as the service has found it. */
function found(
  { operation: of }: RolloutCreate,
  { devices, connected, stages, maxUnfinished, overlaps, warnings }: RolloutDryRun,
) {
  const said = warnings.filter(({ code }) => code !== OVERLAP);
  return div(
    { class: 'stack tight' },
    p(null, `${operationName(of)}, for ${counted(devices, 'device')}, ${count(connected)} of them connected now.`),
    p({ class: 'soft' }, `${stagesWords(stages)}.`),
    maxUnfinished === undefined ? null : p({ class: 'soft' }, `At most ${counted(maxUnfinished, 'device')} at a time.`),
    said.length + overlaps.length === 0
      ? null
      : ul(
          { class: 'note warn stack tight', 'aria-label': 'Warnings' },
          said.map(({ code, message }) => li({ key: `${code} ${message}`, class: 'wrap' }, visible(message))),
          overlaps.map(overlap),
        ),
  );
}

function DryRun({ body }: { body: RolloutCreate }): Child {
  const answer = useLoad(JSON.stringify(body), (signal) =>
    read<RolloutDryRun>(operation('startRollout'), { json: { ...body, dryRun: true }, signal }),
  );
  return loaded(answer, (known) => found(body, known), { lines: 3 });
}

/** Shows a rollout as it would begin: the service is asked with the request itself, and stores nothing. */
export const rolloutDryRun = (body: RolloutCreate): VNode => use(DryRun, { body });
