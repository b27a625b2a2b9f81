import { type GivenSetting, SETTINGS } from '../config.ts';
import type { SettingList } from '../contracts/types.ts';
import type { Answer } from '../http/route.ts';
import { HIDDEN } from '../secret-names.ts';
import { textWithoutSecrets } from '../without-secrets.ts';
import type { AdminServices } from './services.ts';

/** As everybody who administrates may see it. */
export function shownSetting({ name, value, isSet }: GivenSetting): SettingList['settings'][number] {
  const { description, ...row } = SETTINGS.find((setting) => setting.name === name) as (typeof SETTINGS)[number];
  const secret = 'secret' in row;
  return {
    name,
    value: value === null ? null : secret ? HIDDEN : textWithoutSecrets(value),
    isSet,
    secret,
    description,
  };
}

/** The settings as in effect, without what is secret in them. */
export function listSettings({ settings }: AdminServices): Answer {
  const body: SettingList = { settings: settings.map(shownSetting) };
  return { status: 200, body };
}
