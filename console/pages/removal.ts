import type { Child } from '../base/elements.ts';
import { addressOf } from '../base/place.ts';
import { head } from '../parts/head.ts';
import { removalCard } from '../parts/removal.ts';

/** The progress of a removal. Its address is its own, so it can be loaded again and handed on. */
export const removalPage = (removalId: string): Child => [
  head({ title: 'Removal', copied: removalId, trail: [[addressOf(['developers']), 'Developers']] }),
  removalCard(removalId),
];
