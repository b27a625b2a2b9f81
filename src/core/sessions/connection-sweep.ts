import { daysInMicros, ROWS_PER_READ, type Sweep } from '../../platform/database/sweep.ts';
import { idsFrom } from '../../runtime/ids.ts';
import { FACTS } from './connection-log.ts';
import { oldestOfDevices, oldFacts, removeFact } from './connection-log-repository.ts';

/** The number of devices that one step of the sweep examines for old facts. */
const DEVICES = 500;
const DIGITS = 12;

/** The time of a fact id in microseconds. */
const timeOf = (factId: string): number =>
  Number.parseInt(factId.slice(FACTS.length + 1, FACTS.length + 1 + DIGITS), 16) * 1000;

/** Removes facts about connections that are older than `keptDays` (LAPEL_CONNECTION_RETENTION_DAYS). */
export const connectionSweep = ({ keptDays }: { keptDays: number }): Sweep<{ deviceId: string; factId: string }> => ({
  kind: 'connection_log',
  keptForMicros: daysInMicros(keptDays),
  async *find(sql, beforeMicros) {
    if (!Number.isFinite(beforeMicros)) return;
    const before = idsFrom(FACTS, beforeMicros);
    for (let after = ''; ; ) {
      const devices = await oldestOfDevices(sql, after, DEVICES);
      let found: { deviceId: string; factId: string }[] = [];
      const oldestAt = devices.reduce((oldest, { factId }) => Math.min(oldest, timeOf(factId)), beforeMicros);
      for (const { deviceId } of devices.filter(({ factId }) => factId < before)) {
        // Reads one page at most; if the device has more old facts, the next sweep finds them.
        for (const factId of await oldFacts(sql, deviceId, before, ROWS_PER_READ)) found.push({ deviceId, factId });
        if (found.length < ROWS_PER_READ) continue;
        yield { found, oldestAt };
        found = [];
      }
      yield { found, oldestAt };
      const last = devices.at(-1);
      if (!last || devices.length < DEVICES) return;
      after = last.deviceId;
    }
  },
  remove: removeFact,
  async oldestAt(sql) {
    let oldest = Number.POSITIVE_INFINITY;
    for (let after: string | undefined = ''; after !== undefined; ) {
      const devices: { deviceId: string; factId: string }[] = await oldestOfDevices(sql, after, DEVICES);
      for (const { factId } of devices) oldest = Math.min(oldest, timeOf(factId));
      after = devices.length < DEVICES ? undefined : devices.at(-1)?.deviceId;
    }
    return Number.isFinite(oldest) ? oldest : null;
  },
});
