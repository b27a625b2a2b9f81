import { DomainError } from '../../errors.ts';
import type { Metrics } from '../../metrics.ts';
import type { Clock } from '../../runtime/clock.ts';
import { createTokenBuckets } from '../../runtime/token-buckets.ts';

const MEBIBYTE = 1024 * 1024;
const SECONDS_PER_DAY = 24 * 3600;

interface Parts {
  clock: Clock;
  metrics: Metrics;
  /** Mebibytes at once, and as many a day; 0 is no bound. LAPEL_DEVICE_EVENT_MIB, LAPEL_APPLICATION_EVENT_MIB. */
  deviceMebibytes: number;
  applicationMebibytes: number;
  /** How many processes share what is of an application; a device is connected to one of them. */
  nodes?: () => number;
}

export type EventBytes = ReturnType<typeof createEventBytes>;

/**
 * How much the events of devices may make the service keep on its disk: so many bytes at once, and as many again over
 * each day, for each device and for all devices of an application, so that neither can fill the disk for everybody.
 * Counted in memory: a restart gives all a full measure.
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
    /** Undefined when an event of so many bytes may be stored, else EVENT_BYTES_EXCEEDED. */
    take(deviceId: string, applicationId: string, bytes: number): DomainError | undefined {
      const ofDevice = refused(devices, 'device', deviceId, bytes);
      if (ofDevice) return ofDevice;
      const ofApplication = refused(applications, 'application', applicationId, bytes);
      if (ofApplication) devices.take(deviceId, -bytes); // it gets back what it had no use of
      return ofApplication;
    },
    /** What was taken for an event that was not stored after all. */
    giveBack(deviceId: string, applicationId: string, bytes: number): void {
      devices.take(deviceId, -bytes);
      applications.take(applicationId, -bytes);
    },
  };
}
