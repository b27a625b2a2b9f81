import { BREAKAGES } from '../breakages/breakages.ts';
import { PLANTED } from './planted.ts';

/** All faults that can be planted into the service of a world, with the names of their two groups. */
export const FAULTS = [
  ...PLANTED.map((fault) => ({ ...fault, group: 'meetings' })),
  ...BREAKAGES.map(({ name, about, patches }) => ({ name, about, patches, group: 'breakages' })),
];
