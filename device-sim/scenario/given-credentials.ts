import type { Fleet, GivenUp } from '../fleet/fleet.ts';
import { isBadCredential } from '../mqtt/link.ts';

const REFUSES = 'it refuses the credential that it gave to the device';

/**
 * Counts a breach of the contract when the service refuses a credential that it has given itself, at the registration or the
 * enrolment of a device. `areGiven`: it has given those of the run. `mayChange`: the operator may have replaced them, or
 * removed devices.
 */
export function watchCredentials({
  fleet: { devices, events },
  areGiven,
  mayChange,
}: {
  fleet: Pick<Fleet, 'devices' | 'events'>;
  areGiven: boolean;
  mayChange: () => boolean;
}): {
  /** Whether the end of all attempts to connect is such a breach. */
  onGivenUp(givenUp: GivenUp): boolean;
} {
  const isBreach = (error: Error): boolean => areGiven && !mayChange() && isBadCredential(error);
  events.on('refused', (device, error) => {
    if (isBreach(error)) events.emit('violation', device, REFUSES);
  });
  return {
    onGivenUp({ deviceId, error }) {
      const device = devices.find((one) => one.deviceId === deviceId);
      if (!device || !isBreach(error)) return false;
      events.emit('violation', device, REFUSES);
      return true;
    },
  };
}
