import { type GivenSetting, SETTINGS } from '../config.ts';
import type { SettingList } from '../contracts/types.ts';
import type { Answer } from '../http/route.ts';
import type { AdminServices } from './services.ts';

const HIDDEN = '••••';
/** The last `@` before a path: a password may have one that nobody has encoded. */
const PASSWORD = /^([a-z][a-z0-9+.-]*:\/\/[^:/?#]*):[^/?#]*@/i;
const SECRET_PARAMETER = /([?&][^=&#]*(?:password|secret|token|key)[^=&#]*=)[^&#]*/gi;

/** A URL without passwords; any other text as it is. */
const withoutPasswords = (value: string): string =>
  value.replace(PASSWORD, `$1:${HIDDEN}@`).replace(SECRET_PARAMETER, `$1${HIDDEN}`);

/** As everybody who administrates may see it. */
export function shownSetting({ name, value, isSet }: GivenSetting): SettingList['settings'][number] {
  const { description, ...row } = SETTINGS.find((setting) => setting.name === name) as (typeof SETTINGS)[number];
  const secret = 'secret' in row;
  return { name, value: value === null ? null : secret ? HIDDEN : withoutPasswords(value), isSet, secret, description };
}

/** The settings as in effect, without what is secret in them. */
export function listSettings({ settings }: AdminServices): Answer {
  const body: SettingList = { settings: settings.map(shownSetting) };
  return { status: 200, body };
}
