import type { Verdict } from '@lapel/schemas/base/rollout-verdict';
import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Sql } from '../../platform/database/sql.ts';
import { findCounts } from './count-repository.ts';
import { firedOf } from './entry-detail.ts';
import type { HealthFigures } from './health/figures.ts';
import { findHealth } from './health/watch-repository.ts';
import type { Rollout } from './rollout.ts';
import { findFindings } from './rollout-repository.ts';
import { changesSince, type Evidence, isVerdictTag, verdictOf } from './verdict.ts';

/**
 * Reads what verdicts are made of. A unit of work has locked the rollout: then none of it changes before the commit.
 * `figures`: those of the look that is just being stored.
 */
export async function readEvidence(sql: Sql, rolloutId: string, figures?: HealthFigures): Promise<Evidence> {
  const [counts, findings] = [await findCounts(sql, rolloutId), await findFindings(sql, rolloutId)];
  const stored = figures ? undefined : await findHealth(sql, rolloutId);
  return {
    counts,
    figures: figures ?? (stored && (JSON.parse(stored.figures) as HealthFigures)),
    fired: firedOf(findings),
  };
}

/** The verdict on the present stage. Null before the first one. */
export const presentVerdict = async (sql: Sql, rollout: Rollout, figures?: HealthFigures): Promise<Verdict | null> =>
  rollout.stage < 0 ? null : verdictOf(rollout, rollout.stage, await readEvidence(sql, rollout.rolloutId, figures));

/**
 * Returns the verdict on the present stage, in a unit of work that has locked the rollout. `seen`: the value of `If-Match`, a
 * list of tags, or `*` for any verdict. Throws VERDICT_CHANGED when it names another verdict: nobody accepts figures that he
 * has not read; and VERDICT_TAG_INVALID when it names none at all.
 */
export async function requireSeen(sql: Sql, rollout: Rollout, seen: string | undefined): Promise<Verdict | null> {
  const verdict = await presentVerdict(sql, rollout);
  if (seen === undefined || (seen.trim() === '*' && verdict !== null)) return verdict;
  const tags = seen.trim() === '*' ? ['*'] : seen.split(',').filter(isVerdictTag); // the tags have no commas
  if (tags.length === 0) throw new DomainError('VERDICT_TAG_INVALID');
  const changes = tags.map((tag) =>
    verdict === null ? 'no stage has begun' : changesSince(tag, rollout.stage, verdict),
  );
  if (changes.includes('')) return verdict;
  throw new DomainError('VERDICT_CHANGED', { values: { changes: changes[0] ?? '' } });
}
