import { SETTING_NAMES } from '../applications/application-repository.ts';
import type { ApplicationSettings } from '../contracts/types.ts';
import type { Answer } from '../http/route.ts';
import type { ApiServices, AtApplication } from './services.ts';

/** Op 1. */
export function readSettings(_: ApiServices, { caller }: AtApplication): Answer {
  const body: ApplicationSettings = {};
  if (caller.authenticationKey !== null) body.authenticationKey = caller.authenticationKey;
  for (const name of SETTING_NAMES) {
    const url = caller.settings[name];
    if (url !== null) body[name] = url;
  }
  return { status: 200, body };
}

/** Op 2. */
export async function updateSettings(
  { applications }: ApiServices,
  { params, body }: AtApplication<'rest/application-settings-update'>,
): Promise<Answer> {
  await applications.updateSettings(params.applicationId, body);
  return { status: 200 };
}

/** Op 3. */
export async function issueKey({ applications }: ApiServices, { params }: AtApplication): Promise<Answer> {
  const { authenticationKey } = await applications.issueKey(params.applicationId);
  return { status: 201, body: { authenticationKey } };
}
