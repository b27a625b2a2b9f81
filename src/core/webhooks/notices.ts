import { DomainError } from '@lapel/schemas/contracts/errors';
import { WEBHOOK_SETTINGS } from '@lapel/schemas/contracts/values';
import type { UnitOfWork } from '../../platform/database/sql.ts';
import { toUtc } from '../../runtime/clock.ts';
import type { Micros } from '../../runtime/units.ts';
import { NO_DEVICE, type UrlSetting, type WebhookEvent } from './delivery.ts';
import { listFailingOf } from './log/attempt-repository.ts';

interface Parts {
  clock: { now(): Micros };
  /** Throws APPLICATION_UNREGISTERED. */
  findApplication(unit: UnitOfWork, applicationId: string): Promise<{ settings: Record<UrlSetting, string | null> }>;
  record(unit: UnitOfWork, event: WebhookEvent): unknown;
}

export type NoticeType = 'endpoint.failing' | 'endpoint.recovered' | 'endpoint.disabled';

/** The receiver that a notice is about: the URL of a setting, or an endpoint. */
export interface NoticeOf {
  applicationId: string;
  name: { setting: UrlSetting } | { endpointId: string; description: string };
  since: Micros;
  statusCode: number | null;
  error: string;
}

/** A text of somebody else within a line: a line break would begin another header of a mail. */
const inLine = (text: string): string => text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

const nameOf = ({ name }: NoticeOf): string => {
  if ('setting' in name) return `the URL of ${name.setting}`;
  const description = inLine(name.description);
  return description === '' ? `the endpoint ${name.endpointId}` : `the endpoint “${description}” (${name.endpointId})`;
};

/** A line and a text for people, as a mail has them. */
function wordsOf(type: NoticeType, about: NoticeOf): { subject: string; text: string } {
  const { since } = about;
  const error = inLine(about.error);
  const name = nameOf(about);
  const from = toUtc(since);
  if (type === 'endpoint.recovered')
    return {
      subject: `Webhooks arrive again: ${name}`,
      text: `A notification to ${name} was accepted again. Since ${from} they had failed; the last reason was: ${error}.`,
    };
  const reason = `Since ${from} no notification to ${name} was accepted. The last reason: ${error}.`;
  if (type === 'endpoint.failing')
    return {
      subject: `Webhooks do not arrive: ${name}`,
      text: `${reason} They are tried again; nothing must be done when it recovers.`,
    };
  return {
    subject: `Webhooks are not sent any more: ${name}`,
    text: `${reason} So it was disabled. Its events are kept; enable it, and choose whether they are sent or skipped.`,
  };
}

/**
 * Tells an application how a receiver of it does. The event goes to the URL of a setting whose receiver works, if there is
 * another one than that which it is about, and it is in the application's stream, so endpoints get it as well.
 */
export function createNotices({ clock, findApplication, record }: Parts) {
  return {
    /** A setting that can be told; null when none can; undefined when the application is gone. */
    async targetFor(
      unit: UnitOfWork,
      { applicationId, setting, url }: { applicationId: string; setting?: UrlSetting; url?: string },
    ): Promise<UrlSetting | null | undefined> {
      const application = await findApplication(unit, applicationId).catch((error: unknown) => {
        if (error instanceof DomainError && error.code === 'APPLICATION_UNREGISTERED') return undefined;
        throw error;
      });
      const settings = application?.settings;
      if (!settings) return undefined;
      const failing = new Set((await listFailingOf(unit, applicationId)).map((one) => one.setting));
      const own = setting === undefined ? url : settings[setting];
      const target = WEBHOOK_SETTINGS.find(
        (other) => other !== setting && settings[other] !== null && settings[other] !== own && !failing.has(other),
      );
      return target ?? null;
    },

    /** Stores the event; without a target it is only in the stream. */
    send(unit: UnitOfWork, target: UrlSetting | null, type: NoticeType, about: NoticeOf): void {
      const { applicationId, name, since, statusCode, error } = about;
      const data = {
        ...name,
        since: toUtc(since),
        lastStatusCode: statusCode,
        lastError: error,
        ...wordsOf(type, about),
      };
      const setting = target ?? ('setting' in name ? name.setting : 'deviceEvent');
      const at = { setting, unsent: target === null };
      record(unit, { applicationId, deviceId: NO_DEVICE, ...at, type, occurredAt: clock.now(), data });
    },
  };
}

export type Notices = ReturnType<typeof createNotices>;
