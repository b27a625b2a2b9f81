import type { Millis } from '../../runtime/units.ts';

const LOOK_MS = 10_000;

/**
 * The milliseconds until the service looks again at a rollout, or at devices of rollouts, of which `perLook` are looked at in
 * one interval. These looks are for what nobody tells the service, such as a device that is silent.
 */
export const untilNextLook = (devices = 1, perLook = 1): Millis => LOOK_MS * Math.max(1, Math.ceil(devices / perLook));
