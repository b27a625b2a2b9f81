import type { UnitOfWork } from '../../platform/database/sql.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { SettingReceiver, UrlSetting } from './delivery.ts';
import { type FailingReceiver, findFailing, removeFailing, saveTold } from './log/attempt-repository.ts';
import type { Notices, NoticeType } from './notices.ts';

interface Parts {
  clock: Clock;
  notices: Notices;
}

/** Microseconds of failures after which an application is notified; when a delivery is given up, it is notified at once. */
export const FAILING_FOR_MICROS = 30 * 60 * 1_000_000;

/**
 * Notifies an application that the receiver of one of its settings fails, or has recovered. Without another setting that can
 * be told, the event is only in the application's stream, and sent as soon as there is one. Each event is sent once; it is
 * stored in the unit of work that stores the outcome.
 */
export function createEndpointEvents({ clock, notices }: Parts) {
  const sendEvent = (unit: UnitOfWork, target: UrlSetting | null, type: NoticeType, row: FailingReceiver): void =>
    notices.send(unit, target, type, { ...row, name: { setting: row.setting } });

  return {
    /** Notifies the application, once, of a receiver that has failed for long, or for which a delivery was given up. */
    async failing(unit: UnitOfWork, name: SettingReceiver): Promise<void> {
      const row = await findFailing(unit, name);
      if (!row || row.toldAt !== null) return;
      const target = await notices.targetFor(unit, name);
      if (target === undefined || (target === null && row.streamedAt !== null)) return;
      await saveTold(unit, name, target === null ? 'stream' : 'webhook', clock.now());
      sendEvent(unit, target, 'endpoint.failing', row);
    },

    /**
     * Removes the record that a receiver fails, after a successful attempt. If the application was notified of the
     * failure, it is notified of the recovery.
     */
    async recovered(unit: UnitOfWork, name: SettingReceiver): Promise<void> {
      const row = await findFailing(unit, name);
      if (!row) return;
      await removeFailing(unit, name);
      const isTold = row.toldAt !== null || row.streamedAt !== null;
      const target = isTold ? await notices.targetFor(unit, name) : undefined;
      if (target !== undefined) sendEvent(unit, target, 'endpoint.recovered', row);
    },
  };
}

export type EndpointEvents = ReturnType<typeof createEndpointEvents>;
