/** The library `lapel/sim`: simulated devices, fleets and a webhook receiver for tests of other programs. */
import { openDevice } from './open-device.ts';
import { openFleet } from './open-fleet.ts';
import { openReceiver } from './open-receiver.ts';
import type * as declared from './public.d.ts';

// The types are compared here, so that the declaration file cannot differ from the code.
export const device: typeof declared.device = openDevice;
export const fleet: typeof declared.fleet = openFleet;
export const receiver: typeof declared.receiver = openReceiver;
