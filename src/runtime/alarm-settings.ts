import { DomainError } from '@lapel/schemas/contracts/errors';

/** The receiver of alarms that the settings name. */
export interface AlarmReceiver {
  url: string;
  /** The key with which messages are signed (`whsec_` and base64); null: they are not signed. */
  key: string | null;
  /** The text with `{text}` that chat systems take; null: the JSON of the service. */
  template: string | null;
}

const invalid = (setting: string, problem: string): DomainError =>
  new DomainError('SETTING_INVALID', { values: { setting, problem } });

/** Reads the receiver of alarms. Its URL and its key are secrets, and so in no text of an error. */
export function readAlarmReceiver(
  optional: (name: 'LAPEL_ALARM_URL' | 'LAPEL_ALARM_KEY' | 'LAPEL_ALARM_TEMPLATE') => string | null,
): AlarmReceiver | null {
  const [url, key, template] = [
    optional('LAPEL_ALARM_URL'),
    optional('LAPEL_ALARM_KEY'),
    optional('LAPEL_ALARM_TEMPLATE'),
  ];
  if (url === null && template !== null) throw invalid('LAPEL_ALARM_TEMPLATE', 'needs LAPEL_ALARM_URL');
  if (url === null) return null;
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ''))
    throw invalid('LAPEL_ALARM_URL', 'must be an http or https URL');
  const bytes = Buffer.from(key?.replace(/^whsec_/, '') ?? '', 'base64');
  if (key !== null && (`whsec_${bytes.toString('base64')}` !== key || bytes.length < 24 || bytes.length > 64))
    throw invalid('LAPEL_ALARM_KEY', 'must be whsec_ and 24 to 64 bytes in base64');
  if (template !== null && !isTemplate(template))
    throw invalid('LAPEL_ALARM_TEMPLATE', 'must be JSON with {text} inside of a string');
  return { url, key, template };
}

/** Whether a template becomes JSON with the text in it. */
function isTemplate(template: string): boolean {
  try {
    return template.includes('{text}') && JSON.parse(template.replaceAll('{text}', 'text')) !== null;
  } catch {
    return false;
  }
}
