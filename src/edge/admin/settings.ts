import type { SettingList } from '../../platform/contracts/types.ts';
import { HIDDEN } from '../../runtime/secret-names.ts';
import { textWithoutSecrets } from '../../runtime/without-secrets.ts';
import { type GivenSetting, SETTINGS } from '../../settings.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

/** A setting as administration shows it, without secrets. */
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

/** Lists the settings in effect, without secrets. */
export function listSettings({ settings }: AdminServices): Answer {
  const body: SettingList = { settings: settings.map(shownSetting) };
  return { status: 200, body };
}
