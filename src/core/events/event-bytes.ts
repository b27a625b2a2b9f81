import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';

const MEBIBYTE = 1024 * 1024;
const SECONDS_PER_DAY = 24 * 3600;

interface Parts {
  clock: Clock;
  metrics: Metrics;
  /**
   * Mebibytes at once, and as many again each day; 0 means no bound. LAPEL_DEVICE_EVENT_MIB, LAPEL_APPLICATION_EVENT_MIB.
   */
  deviceMebibytes: number;
  applicationMebibytes: number;
  /**
   * The number of nodes that share an application's bound. (A device is connected to one node, which has its whole bound.)
   */
  nodes?: () => number;
}

export type EventBytes = ReturnType<typeof createEventBytes>;

/**
 * Bounds the bytes that events of devices may add to the disk: a number at once, and as many again over each day, for each
 * device and for all devices of an application together, so that neither can fill the disk. Counted in memory: after a
 * restart all have their full amount.
 */
export function createEventBytes({ clock, metrics, deviceMebibytes, applicationMebibytes, nodes = () => 1 }: Parts) {
  const bucketsOf = (mebibytes: number, sharedBy = () => 1) =>
    createTokenBuckets({
      clock,
      size: mebibytes * MEBIBYTE,
      perSecond: (mebibytes * MEBIBYTE) / SECONDS_PER_DAY,
      nodes: sharedBy,
    });
  const devices = bucketsOf(deviceMebibytes);
  const applications = bucketsOf(applicationMebibytes, nodes);

  function refused(buckets: typeof devices, owner: 'device' | 'application', id: string, bytes: number) {
    const taken = buckets.take(id, bytes);
    if (taken?.allowed !== false) return undefined;
    metrics.eventsRefused.inc({ bound: owner });
    return new DomainError('EVENT_BYTES_EXCEEDED', { values: { owner, seconds: taken.waitSeconds } });
  }

  return {
    /** Takes the bytes of an event; returns undefined when it may be stored, else the error EVENT_BYTES_EXCEEDED. */
    take(deviceId: string, applicationId: string, bytes: number): DomainError | undefined {
      const ofDevice = refused(devices, 'device', deviceId, bytes);
      if (ofDevice) return ofDevice;
      const ofApplication = refused(applications, 'application', applicationId, bytes);
      if (ofApplication) devices.take(deviceId, -bytes); // the device gets its bytes back
      return ofApplication;
    },
    /** Gives back the bytes of an event that was not stored. */
    giveBack(deviceId: string, applicationId: string, bytes: number): void {
      devices.take(deviceId, -bytes);
      applications.take(applicationId, -bytes);
    },
  };
}
