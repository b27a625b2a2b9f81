/** The settings that name where events of devices go. */
export type EventSetting = 'deviceEvent' | 'callEvent' | 'callFileSendEvent' | 'fileUploadEvent';

/** By the first part of an event's type, `recording` of `recording.saved` (specification, "Events"). */
const SETTINGS: Record<string, EventSetting> = {
  bluetooth: 'deviceEvent',
  custom: 'deviceEvent',
  call: 'callEvent',
  recording: 'callFileSendEvent',
  fileUpload: 'fileUploadEvent',
};

/** Where an event of a type goes; the schema mqtt/event knows no other types. */
export function settingOf(type: string): EventSetting {
  const setting = SETTINGS[type.split('.', 1)[0] ?? ''];
  if (!setting) throw new Error(`no setting for events of the type ${type}`);
  return setting;
}
