import type { Deprecations } from '@lapel/schemas/contracts/deprecations';
import type { ApplicationSettings } from '@lapel/schemas/contracts/types';
import { SETTING_NAMES, type Settings } from '../../core/applications/setting-columns.ts';
import { changedValues } from '../http/changed-values.ts';
import { entityTag, matcher } from '../http/entity-tag.ts';
import { NO_STORE } from '../http/no-store.ts';
import type { Answer } from '../http/route.ts';
import { type ApiServices, type AtApplication, seesKey } from './services.ts';

type Services = Pick<ApiServices, 'deprecations' | 'applications'>;

const stateOf = (settings: Settings): unknown => SETTING_NAMES.map((name) => settings[name]);
const tagOf = (settings: Settings): string => entityTag(stateOf(settings));

/** Reads the settings of the application (op 1). A person who only looks does not see the key that signs webhooks. */
export function readSettings({ deprecations }: Services, { caller, baseUrl }: AtApplication): Answer {
  const body: ApplicationSettings = {};
  if (caller.authenticationKey !== null && seesKey(caller)) body.authenticationKey = caller.authenticationKey;
  for (const name of SETTING_NAMES) {
    const url = caller.settings[name];
    const served = name !== 'remoteSupportEvent' || deprecations.serves(name);
    if (url !== null && served) body[name] = url;
  }
  const headers = { ...NO_STORE, ETag: tagOf(caller.settings), ...deprecationOf(deprecations, body, baseUrl) };
  return { status: 200, headers, body };
}

/** Changes settings of the application (op 2). */
export async function updateSettings(
  { applications, deprecations }: Services,
  { params, body, baseUrl, headers, changed }: AtApplication<'rest/application-settings-update'>,
): Promise<Answer> {
  const check = matcher(headers);
  let before: Settings | undefined;
  const settings = await applications.updateSettings(params.applicationId, body, (known) => {
    before = known;
    check(stateOf(known));
  });
  await changed(changedValues(before ?? {}, settings));
  return { status: 200, headers: { ETag: tagOf(settings), ...deprecationOf(deprecations, body, baseUrl) } };
}

/**
 * The headers of an answer when the request or the answer names the deprecated setting `remoteSupportEvent`; none
 * otherwise. A release that no longer serves the setting refuses such a request before this is called.
 */
const deprecationOf = (deprecations: Deprecations, named: object, baseUrl: string): Record<string, string> =>
  'remoteSupportEvent' in named ? deprecations.headers('remoteSupportEvent', baseUrl) : {};

/** Issues the authenticationKey (op 3). */
export async function issueKey({ applications }: Services, { params, changed }: AtApplication): Promise<Answer> {
  const { authenticationKey } = await applications.issueKey(params.applicationId);
  await changed({ replaced: ['authenticationKey'] });
  return { status: 201, headers: NO_STORE, body: { authenticationKey } };
}
