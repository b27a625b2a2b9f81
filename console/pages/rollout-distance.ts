import { abortText, healthDistanceText } from '@lapel/schemas/base/rollout-distance';
import { type Child, dl } from '../base/elements.ts';
import { visible } from '../base/format.ts';
import type { RolloutDetails } from '../base/rows.ts';
import { card, fact } from '../parts/show.ts';

/** How far each rule is from stopping the rollout, and what somebody has accepted; nothing without rules. */
export function distanceCard({ abortRule, healthRules }: RolloutDetails): Child {
  if (abortRule === null && healthRules.length === 0) return null;
  return card(
    { title: 'Rules that stop it', bare: true },
    dl(
      { class: 'facts' },
      abortRule === null ? null : fact('Abort rule', abortText(abortRule)),
      healthRules.map((state, index) => fact(`Health rule ${index + 1}`, visible(healthDistanceText(state)))),
    ),
  );
}
