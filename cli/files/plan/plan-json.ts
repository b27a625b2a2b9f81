import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { digestOf } from './compare.ts';
import type { Accounts } from './make-plan.ts';
import type { Described, Plan, Step } from './plan.ts';

/** A plan for programs. */
export type PlanJson = SchemaTypes['files/plan'];

const describedJson = ({ kind, name, place }: Described) => ({
  kind,
  name,
  file: place?.file ?? null,
  line: place?.line ?? null,
});

export const stepJson = (step: Step): PlanJson['steps'][number] => ({
  ...describedJson(step),
  action: step.action,
  changes: step.changes.map(({ field, before = null, after = null }) => ({ field, before, after })),
  notes: [...step.notes],
  seen: step.seen,
});

/** Lines move without a change of the plan. */
const withoutLine = <One extends object>(one: One): object => ({ ...one, line: null });

/** A plan as `--json` and `--out` write it. */
export function planJson(plan: Plan, { application, administration }: Accounts): PlanJson {
  const steps = plan.steps.map(stepJson);
  const accounts = {
    application: application && { applicationId: application.applicationId, url: application.baseUrl },
    administration: administration && { url: administration.baseUrl },
  };
  const refused = plan.refused.map((one) => ({ ...describedJson(one), reason: one.reason }));
  return {
    format: 'lapel-plan-1',
    ...accounts,
    digest: digestOf([accounts, steps.map(withoutLine), refused.map(withoutLine)]),
    steps,
    refused,
    notCompared: plan.notCompared.map((one) => ({ ...describedJson(one), field: one.field, reason: one.reason })),
    notTouched: plan.notTouched.map(({ kind, count, names }) => ({ kind, count, names: [...names] })),
    unchanged: plan.unchanged,
  };
}
