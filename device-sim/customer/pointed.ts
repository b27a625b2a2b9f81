import { createLapelClient } from '@lapel/client/lapel-client';
import { URL_SETTINGS, WEBHOOK_SETTINGS } from '@lapel/client/operations';
import { UsageError } from '../usage-error.ts';
import type { ApplicationAccess } from './provision.ts';

type Setting = keyof typeof URL_SETTINGS;
/** The settings of an application that hold URLs. */
const SETTINGS = Object.keys(URL_SETTINGS) as Setting[];
const isWebhook = (name: Setting): boolean => WEBHOOK_SETTINGS.some((one) => one === name);

/** The end of an error text about a URL that the service refuses. */
export const PRIVATE_ADVICE = 'a receiver on a private address needs LAPEL_WEBHOOK_ALLOW_PRIVATE=true in the service';

/** An existing application whose webhooks go to another URL for a time. */
export interface Pointed {
  /** The present authenticationKey of the application; it changes when somebody issues a new one. */
  readKey(): Promise<string>;
  /** Issues a new authenticationKey for the application. */
  issueKey(): Promise<string>;
  /**
   * Sends all webhooks of the application to this URL, and with `urlsUrl` its requests for upload URLs to that one. It
   * may be repeated after a failure: `restore` brings back the URLs before the first time.
   */
  point(url: string, urlsUrl?: string): Promise<void>;
  /**
   * Restores the former URLs, except settings that somebody has changed meanwhile. Rejects with an Error that lists the
   * former URLs.
   */
  restore(): Promise<void>;
}

/** Uses the application through the REST API at `api`. */
export function createPointed(
  api: string,
  { applicationId, secret }: ApplicationAccess,
  lapel = createLapelClient({ baseUrl: api, applicationId, secret }),
): Pointed {
  /** The settings that were changed, each with its URL before and during this time. */
  let changed: { readonly name: Setting; readonly old: string | null; readonly url: string }[] = [];
  return {
    async readKey() {
      const { authenticationKey } = await lapel.readSettings();
      if (authenticationKey !== undefined) return authenticationKey;
      throw new UsageError('--application', `${applicationId} has no authenticationKey; issue one first`);
    },
    issueKey: async () => (await lapel.issueKey()).authenticationKey,
    async point(url, urlsUrl) {
      if (changed.length === 0) {
        const now = await lapel.readSettings();
        const urls = SETTINGS.map((name) => ({ name, url: isWebhook(name) ? url : urlsUrl }));
        changed = urls.flatMap(({ name, url: to }) =>
          to === undefined ? [] : [{ name, old: now[name] ?? null, url: to }],
        );
      }
      await lapel.updateSettings({ body: Object.fromEntries(changed.map(({ name, url: to }) => [name, to])) });
    },
    async restore() {
      if (changed.length === 0) return;
      try {
        const now = await lapel.readSettings();
        const ours = changed.filter(({ name, url }) => now[name] === url);
        if (ours.length > 0)
          await lapel.updateSettings({ body: Object.fromEntries(ours.map(({ name, old }) => [name, old])) });
      } catch (cause) {
        const [{ url } = { url: '' }] = changed;
        const urls = changed.map(({ name, old }) => `${name}: ${old ?? 'none'}`).join(', ');
        throw new Error(`the settings still have the URL ${url}; before it was ${urls}: ${(cause as Error).message}`, {
          cause,
        });
      }
    },
  };
}
