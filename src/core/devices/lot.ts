import { spread } from '../../runtime/spread.ts';

const LOTS = 2 ** 31;

/**
 * The lot of a device: an integer from 0 to 2^31 - 1. The devices with the lowest lots are a random sample of all, which
 * is independent of every share that a selector names.
 */
export const lotOf = (deviceId: string): number => Math.floor(spread(`lot/${deviceId}`) * LOTS);
