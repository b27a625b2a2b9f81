import type { Breakage } from './breakage.ts';
import { CONTENT } from './faults/content.ts';
import { CRASH } from './faults/crash.ts';
import { DOUBLE } from './faults/double.ts';
import { LOSS } from './faults/loss.ts';
import { ORDER } from './faults/order.ts';
import { PACE } from './faults/pace.ts';
import { PROGRAMS } from './faults/programs.ts';
import { PROMISES } from './faults/promises.ts';
import { REFUSAL } from './faults/refusal.ts';
import { ROLLOUTS } from './faults/rollouts.ts';
import { WHOLE_SERVICE } from './faults/whole-service.ts';

/** All breakages. */
export const BREAKAGES: readonly Breakage[] = [
  ...CONTENT,
  ...ORDER,
  ...LOSS,
  ...CRASH,
  ...DOUBLE,
  ...PACE,
  ...WHOLE_SERVICE,
  ...REFUSAL,
  ...ROLLOUTS,
  ...PROMISES,
  ...PROGRAMS,
];
