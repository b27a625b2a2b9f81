import type { Look } from '../promises/looks.ts';
import type { KnownRollout, RolloutDetails, RolloutDifference, RolloutSnapshot } from './rollout-snapshot.ts';

/** Milliseconds. Both times of a soak are those of the service; the tolerance is for their rounding. */
const ROUNDING = 10;
const SAYS_NOTHING = 'EXPIRED';
/** The share of a stage that names none. */
const USUAL_PERCENT = 95;

type Entry = RolloutDetails['history'][number];

/** A stage that has begun after another one. */
interface Begun {
  /** The number of the stage, from 2. */
  readonly stage: number;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** The beginning of the stage before. */
  readonly former: number;
  /** The history between both beginnings: its order holds, also while the clock of the service leaps. */
  readonly between: readonly Entry[];
}

/** The stages that began after another one; `history` is the oldest first. */
function begunIn(history: readonly Entry[]): Begun[] {
  const starts = history.filter(({ event }) => event === 'stageStarted');
  return starts.flatMap((start): Begun[] => {
    const { stage, at } = start;
    const former = starts.find((one) => one.stage === (stage ?? 0) - 1);
    if (stage === null || !former) return [];
    const between = history.slice(history.indexOf(former), history.indexOf(start));
    return [{ stage, at: Date.parse(at), former: Date.parse(former.at), between }];
  });
}

/**
 * Whether the first stage had its share of successes when the second one began, by the counts in that webhook. Later stages
 * cannot be told apart in them. Not judged when commands have expired, when somebody let the stage pass or let devices try
 * again, or when devices may join or leave.
 */
function wrongShare(
  { rollout }: RolloutSnapshot,
  { plan, events, transactions, devicesStay }: KnownRollout,
  look: Look,
): string | undefined {
  const [rules] = plan.body.stages ?? [];
  const [first] = rollout.stages;
  const began = events.find(({ type, stage }) => type === 'rollout.stageStarted' && stage === 2);
  const hasExpired = [...transactions.values()].some(({ result }) => result?.code === SAYS_NOTHING);
  const isLetPass = rollout.history.some(({ event }) => event === 'resumed' || event === 'retried');
  if (!rules || !first || !began || hasExpired || isLetPass || !devicesStay || plan.body.continuous) return undefined;
  look('rollout-share');
  const { succeeded, failed, unchanged, cancelled, refused } = began.counts;
  // The webhook counts the waiting devices of all stages, so those of the first are the rest of its devices.
  const counting = first.planned - cancelled - refused - unchanged;
  const wanted = rules.continueWhen?.succeededPercent ?? USUAL_PERCENT;
  // A stage of which all have the version already has nothing to prove.
  if (first.planned <= unchanged) return undefined;
  if (succeeded === 0) return 'stage 2 began when no device of stage 1 had succeeded';
  const enough = Math.min(rules.continueWhen?.minimumResults ?? 0, counting);
  if (succeeded + failed < enough)
    return `stage 2 began after ${succeeded + failed} results of stage 1, which needs ${enough}`;
  if (succeeded * 100 >= wanted * counting) return undefined;
  return `stage 2 began when ${succeeded} of ${counting} devices of stage 1 had succeeded, and ${wanted} % of them must have succeeded`;
}

/** Judges whether each stage began only when the rules of the one before allowed it: its share, its soak, its approval. */
export function wrongStages(
  look: RolloutSnapshot,
  known: KnownRollout,
  hasLooked: Look = () => {},
): RolloutDifference[] {
  const { rollout, devices } = look;
  const history = rollout.history.toReversed();
  const differs = (stage: number, text: string): RolloutDifference => {
    const of = devices.find((one) => one.stage === stage && one.transactionId !== null);
    return {
      deviceId: of?.deviceId ?? '',
      text,
      ...(of && of.transactionId !== null && { transactionId: of.transactionId }),
    };
  };
  const early = begunIn(history).flatMap(({ stage, at, former, between }): RolloutDifference[] => {
    const rules = known.plan.body.stages?.[stage - 2];
    const found: RolloutDifference[] = [];
    const soak = rules?.continueWhen?.soakFor;
    if (soak !== undefined) {
      hasLooked('rollout-soak');
      if (at - former < soak * 1000 - ROUNDING)
        found.push(
          differs(
            stage,
            `stage ${stage} began ${((at - former) / 1000).toFixed(1)} s after stage ${stage - 1}, whose soak is ${soak} s`,
          ),
        );
    }
    if (rules?.approval) {
      hasLooked('rollout-approval');
      const isSaid = between.some((one) => one.event === 'approved');
      // A resume of a stage whose devices failed lets the stage pass, and takes the place of its approval.
      const isLetPass = between.some(
        (one, place) => one.event === 'resumed' && between[place - 1]?.reason === 'STAGE_FAILED',
      );
      if (!isLetPass && !(isSaid && known.approved.has(stage - 1)))
        found.push(differs(stage, `stage ${stage} began, and nobody had approved stage ${stage - 1}`));
    }
    return found;
  });
  const share = wrongShare(look, known, hasLooked);
  return share === undefined ? early : [...early, differs(2, share)];
}
