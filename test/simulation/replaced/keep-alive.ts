import { world } from '../world.ts';

/** Pings of devices would be nearly all events of a long world. */
export const keepAliveSeconds = (): number => world().pace.keepAlive;
