import { DomainError } from '@lapel/schemas/contracts/errors';
import { WEBHOOK_SETTINGS } from '@lapel/schemas/contracts/values';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { type Clock, toUtc } from '../../runtime/clock.ts';
import { NO_DEVICE, type ReceiverName, type UrlSetting, type WebhookEvent } from './delivery.ts';
import { type FailingReceiver, findFailing, listFailingOf, removeFailing, saveTold } from './log/attempt-repository.ts';

interface Parts {
  clock: Clock;
  /** Throws APPLICATION_UNREGISTERED. */
  findApplication(unit: UnitOfWork, applicationId: string): Promise<{ settings: Record<UrlSetting, string | null> }>;
  record(unit: UnitOfWork, event: WebhookEvent): unknown;
}

/** Microseconds of failures after which an application is notified; when a delivery is given up, it is notified at once. */
export const FAILING_FOR_MICROS = 30 * 60 * 1_000_000;

/**
 * Notifies an application that one of its receivers fails, or has recovered. The event goes to the URL of another
 * setting of the application, which differs from the receiver's URL and whose receiver works. Each event is sent once;
 * it is stored in the unit of work that stores the outcome.
 */
export function createEndpointEvents({ clock, findApplication, record }: Parts) {
  async function targetFor(
    unit: UnitOfWork,
    { applicationId, setting }: ReceiverName,
  ): Promise<UrlSetting | undefined> {
    const application = await findApplication(unit, applicationId).catch((error: unknown) => {
      if (error instanceof DomainError && error.code === 'APPLICATION_UNREGISTERED') return undefined;
      throw error;
    });
    const settings = application?.settings;
    if (!settings) return undefined;
    const failing = new Set((await listFailingOf(unit, applicationId)).map((one) => one.setting));
    return WEBHOOK_SETTINGS.find(
      (other) =>
        other !== setting && settings[other] !== null && settings[other] !== settings[setting] && !failing.has(other),
    );
  }

  async function sendEvent(
    unit: UnitOfWork,
    target: UrlSetting,
    type: 'endpoint.failing' | 'endpoint.recovered',
    { applicationId, setting, since, statusCode, error }: FailingReceiver,
  ): Promise<void> {
    const data = { setting, since: toUtc(since), lastStatusCode: statusCode, lastError: error };
    record(unit, { applicationId, deviceId: NO_DEVICE, setting: target, type, occurredAt: clock.now(), data });
  }

  return {
    /** Notifies the application, once, of a receiver that has failed for long, or for which a delivery was given up. */
    async failing(unit: UnitOfWork, name: ReceiverName): Promise<void> {
      const row = await findFailing(unit, name);
      if (!row || row.toldAt !== null) return;
      const target = await targetFor(unit, name);
      if (target === undefined) return;
      await saveTold(unit, name, clock.now());
      await sendEvent(unit, target, 'endpoint.failing', row);
    },

    /**
     * Removes the record that a receiver fails, after a successful attempt. If the application was notified of the
     * failure, it is notified of the recovery.
     */
    async recovered(unit: UnitOfWork, name: ReceiverName): Promise<void> {
      const row = await findFailing(unit, name);
      if (!row) return;
      await removeFailing(unit, name);
      const target = row.toldAt === null ? undefined : await targetFor(unit, name);
      if (target !== undefined) await sendEvent(unit, target, 'endpoint.recovered', row);
    },
  };
}

export type EndpointEvents = ReturnType<typeof createEndpointEvents>;
