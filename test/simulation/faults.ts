import { BREAKAGES } from '../breakages/breakages.ts';
import { PLANTED } from './planted.ts';
import { PLANTED_ENDPOINTS } from './planted-endpoints.ts';

/** All faults that can be planted into the service of a world, with the names of their groups. */
export const FAULTS = [
  ...PLANTED.map((fault) => ({ ...fault, group: 'meetings' })),
  ...PLANTED_ENDPOINTS.map((fault) => ({ ...fault, group: 'endpoints' })),
  ...BREAKAGES.map(({ name, about, patches }) => ({ name, about, patches, group: 'breakages' })),
];
