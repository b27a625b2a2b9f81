import { sweepOfDevices } from '../../platform/database/device-sweep.ts';
import { daysInMicros, type Sweep } from '../../platform/database/sweep.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { FACTS } from './connection-log.ts';
import { type FactKey, oldestOfDevices, oldFacts, removeFact } from './connection-log-repository.ts';

const DIGITS = 12;

/** The time of a fact id in microseconds. */
const timeOf = (factId: string): number =>
  Number.parseInt(factId.slice(FACTS.length + 1, FACTS.length + 1 + DIGITS), 16) * 1000;

/** Removes facts about connections that are older than `keptDays` (LAPEL_CONNECTION_RETENTION_DAYS). */
export const connectionSweep = ({ keptDays }: { keptDays: number }): Sweep<FactKey> =>
  sweepOfDevices({
    kind: 'connection_log',
    keptForMicros: daysInMicros(keptDays),
    async oldestOfDevices(sql, after, limit) {
      const devices = await oldestOfDevices(sql, after, limit);
      return devices.map(({ deviceId, oldest }) => ({ deviceId, at: timeOf(oldest) }));
    },
    findOld: (sql, deviceId, before, limit) => oldFacts(sql, deviceId, idsFrom(FACTS, before), limit),
    remove: removeFact,
  });
