import { now } from '../base/clock.ts';
import { type Child, li, ol, p, span, use, type VNode } from '../base/elements.ts';
import { counted } from '../base/format.ts';
import { countsWords, isSoaking, nextWhen, successPercent } from '../base/rollout-words.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { rolloutBar } from '../parts/rollout-bar.ts';
import { badge, until } from '../parts/show.ts';
import { stageHealth } from '../parts/stage-health.ts';
import { verdictView } from '../parts/verdict.ts';

const TONES = { waiting: '', running: 'calm', over: 'good' } as const;
const STATES = { waiting: 'not begun', running: 'running', over: 'over' } as const;

type Stage = RolloutDetails['stages'][number];

/** The badge of an approval that a stage asks for. */
function approvalBadge({ approved, state }: Stage): VNode {
  if (approved) return badge('good', 'approved');
  return badge('warn', state === 'waiting' ? 'needs approval' : 'not approved');
}

/** The state of a stage: one that soaks has nothing more to do itself. */
const StageBadge = ({ stage }: { stage: Stage }): VNode =>
  badge(TONES[stage.state], isSoaking(stage, now.value) ? 'soaks' : STATES[stage.state]);

const Soak = ({ stage }: { stage: Stage }): Child =>
  stage.soakEndsAt === null
    ? null
    : isSoaking(stage, now.value)
      ? ['The soak ends ', until(stage.soakEndsAt), '. ']
      : 'The soak is over. ';

function stageRow({ stages, state: ofRollout, rules }: RolloutDetails, index: number): VNode {
  const stage = stages[index]!;
  const { planned, state, counts, continueWhen, approval, inWork, verdict } = stage;
  const reached = successPercent(counts);
  const wanted = continueWhen?.succeededPercent;
  const isLast = index === stages.length - 1;
  return li(
    { key: index, class: `is-${state}` },
    span(
      { class: 'row spread' },
      span(
        { class: 'row' },
        span({ class: 'name' }, `Stage ${index + 1}`),
        state === 'running' && ofRollout === 'paused' ? badge('warn', 'paused') : use(StageBadge, { stage }),
        approval && !isLast ? approvalBadge(stage) : null,
      ),
      span(
        { class: 'num soft' },
        counted(planned, 'device'),
        state === 'waiting' || reached === null ? null : ` · ${reached} % succeeded`,
        state === 'waiting' || isLast || wanted === undefined ? null : ` of ${wanted} % wanted`,
      ),
    ),
    rolloutBar(counts, { inWork, ...(isLast ? {} : { wanted }) }),
    verdict === null ? null : verdictView(verdict, `Verdict on stage ${index + 1}`),
    stage.health === null ? null : stageHealth(stage.health, `Health of stage ${index + 1}`),
    p(
      { class: 'small quiet' },
      state === 'waiting' ? null : `${countsWords(counts, inWork)}. `,
      continueWhen?.soakFor ? use(Soak, { stage }) : null,
      state === 'over' ? null : isLast ? 'The last stage.' : nextWhen(stage, rules.health !== undefined),
    ),
  );
}

/** The stages, each with its devices, its verdict, and the conditions of the next one. */
export const stageList = (rollout: RolloutDetails): VNode =>
  ol(
    { class: 'rollout-stages', 'aria-label': 'Stages' },
    rollout.stages.map((_, index) => stageRow(rollout, index)),
  );
