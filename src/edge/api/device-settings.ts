import type { Answer } from '../http/route.ts';
import type { ApiServices, AtDevice } from './services.ts';
import { submit } from './submit.ts';

/** Sets the access point names of a device (op 10). */
export function setApn(services: ApiServices, input: AtDevice<'rest/apn-settings'>): Promise<Answer> {
  return submit(services, input, { operation: 'setApn', parameters: { entries: input.body } });
}

/** Sets the Wi-Fi networks of a device (op 11). */
export function setWifi(services: ApiServices, input: AtDevice<'rest/wifi-settings'>): Promise<Answer> {
  return submit(services, input, { operation: 'setWifi', parameters: { entries: input.body } });
}

/** Sets the language of a device. */
export function setLanguage(services: ApiServices, input: AtDevice<'rest/language-setting'>): Promise<Answer> {
  return submit(services, input, { operation: 'setLanguage', parameters: input.body });
}
