import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Op 10. */
export function setApn(services: ApiServices, input: AtDevice<'rest/apn-settings'>): Promise<Answer> {
  return submit(services, input, { operation: 'setApn', parameters: { entries: input.body } });
}

/** Op 11. */
export function setWifi(services: ApiServices, input: AtDevice<'rest/wifi-settings'>): Promise<Answer> {
  return submit(services, input, { operation: 'setWifi', parameters: { entries: input.body } });
}

/** The language setting. */
export function setLanguage(services: ApiServices, input: AtDevice<'rest/language-setting'>): Promise<Answer> {
  return submit(services, input, { operation: 'setLanguage', parameters: input.body });
}
