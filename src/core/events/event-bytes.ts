import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';

const MEBIBYTE = 1024 * 1024;
const SECONDS_PER_DAY = 24 * 3600;

interface Parts {
  clock: Clock;
  metrics: Metrics;
  /**
   * The bound of a device, in mebibytes: so many may be stored at once, and again so many in each further day; 0 means
   * no bound. LAPEL_DEVICE_EVENT_MIB; LAPEL_APPLICATION_EVENT_MIB is the same for an application.
   */
  deviceMebibytes: number;
  applicationMebibytes: number;
  /**
   * Returns the number of nodes, because each node grants an application an equal part of its bound. (A device is
   * connected to one node only, which grants it the whole bound.)
   */
  nodes?: () => number;
}

export type EventBytes = ReturnType<typeof createEventBytes>;

/**
 * Bounds the bytes that events of devices add to the disk, for each device, and for all devices of an application
 * together. So neither a device nor an application can fill the disk. The bytes are counted in memory, so after a
 * restart each device and each application may use its full amount again.
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
    /**
     * Counts the bytes of an event against both bounds. Returns undefined when the event may be stored, else the error
     * EVENT_BYTES_EXCEEDED.
     */
    take(deviceId: string, applicationId: string, bytes: number): DomainError | undefined {
      const ofDevice = refused(devices, 'device', deviceId, bytes);
      if (ofDevice) return ofDevice;
      const ofApplication = refused(applications, 'application', applicationId, bytes);
      // The application's bound refuses the event, so it must not count for the device either.
      if (ofApplication) devices.take(deviceId, -bytes);
      return ofApplication;
    },
    /** Takes back the count of an event whose unit of work was rolled back. */
    giveBack(deviceId: string, applicationId: string, bytes: number): void {
      devices.take(deviceId, -bytes);
      applications.take(applicationId, -bytes);
    },
  };
}
