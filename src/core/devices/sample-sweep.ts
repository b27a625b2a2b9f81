import { sweepOfDevices } from '../../platform/database/device-sweep.ts';
import { daysInMicros, type Sweep } from '../../platform/database/sweep.ts';
import { oldestOfDevices, oldSamples, removeSample, type SampleKey } from './sample-repository.ts';
import { HOUR_MICROS, hourOf } from './sampling.ts';

/**
 * Removes samples that are older than `keptDays` (LAPEL_SAMPLE_RETENTION_DAYS): all of them when it is 0, which stores no
 * new ones.
 */
export const sampleSweep = ({ keptDays }: { keptDays: number }): Sweep<SampleKey> =>
  sweepOfDevices({
    kind: 'device_samples',
    keptForMicros: keptDays === 0 ? 0 : daysInMicros(keptDays),
    async oldestOfDevices(sql, after, limit) {
      const devices = await oldestOfDevices(sql, after, limit);
      return devices.map(({ deviceId, oldest }) => ({ deviceId, at: oldest * HOUR_MICROS }));
    },
    findOld: (sql, deviceId, before, limit) => oldSamples(sql, deviceId, hourOf(before), limit),
    remove: removeSample,
  });
