import { BREAKAGES } from '../breakages/breakages.ts';
import { PLANTED } from './planted.ts';

/** All faults that can be planted into the service of a world. */
export const FAULTS = [...PLANTED, ...BREAKAGES.map(({ name, about, patches }) => ({ name, about, patches }))];
