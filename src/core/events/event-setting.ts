import type { WebhookSetting } from '@lapel/schemas/contracts/types';

/** The setting by the first part of an event's type, such as `recording` of `recording.saved` (specification, "Events"). */
const SETTINGS: Record<string, WebhookSetting> = {
  bluetooth: 'deviceEvent',
  custom: 'deviceEvent',
  call: 'callEvent',
  recording: 'callFileSendEvent',
  fileUpload: 'fileUploadEvent',
};

/** The setting whose URL gets events of a type; the schema mqtt/event allows no other types. */
export function settingOf(type: string): WebhookSetting {
  const setting = SETTINGS[type.split('.', 1)[0] ?? ''];
  if (!setting) throw new Error(`no setting for events of the type ${type}`);
  return setting;
}
