import { HIDDEN } from '@lapel/schemas/base/secret-names';
import { textWithoutSecrets } from '@lapel/schemas/base/without-secrets';
import { type GivenSetting, SETTINGS } from '@lapel/schemas/contracts/settings';
import type { SettingList } from '@lapel/schemas/contracts/types';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

type Services = Pick<AdminServices, 'settings'>;

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
export function listSettings({ settings }: Services): Answer {
  const body: SettingList = { settings: settings.map(shownSetting) };
  return { status: 200, body };
}
