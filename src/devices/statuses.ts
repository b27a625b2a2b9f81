import type { Clock } from '../clock.ts';
import type { Database } from '../database/sql.ts';
import { findStatus, saveStatus } from './status-repository.ts';

export type Statuses = ReturnType<typeof createStatuses>;

/** What devices report of themselves on their status topic. */
export function createStatuses({ database, clock }: { database: Database; clock: Clock }) {
  return {
    /** Merges a report field by field; what it leaves out stays as it was last reported. */
    async report(deviceId: string, fields: object): Promise<void> {
      await database.transact(async (unit) => {
        const at = clock.now();
        const news = Object.entries(fields).map(([name, value]) => [name, { value: value as unknown, at }] as const);
        const before = await findStatus(unit, deviceId);
        await saveStatus(unit, deviceId, {
          reported: { ...before?.reported, ...Object.fromEntries(news) },
          reportedAt: at,
        });
      });
    },

    /** The firmware version that the device last reported, or null. */
    async firmwareVersion(deviceId: string): Promise<string | null> {
      const value = (await findStatus(database.read, deviceId))?.reported['firmwareVersion']?.value;
      return typeof value === 'string' ? value : null;
    },
  };
}
