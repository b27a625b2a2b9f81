import { createLapelClient } from '../../src/clients/client/lapel-client.ts';
import { WEBHOOK_SETTINGS } from '../../src/clients/client/operations.ts';
import { UsageError } from '../usage-error.ts';
import type { ApplicationAccess } from './provision.ts';

/** An existing application whose webhooks go to another URL for a time. */
export interface Pointed {
  /** The present authenticationKey of the application; it changes when somebody issues a new one. */
  readKey(): Promise<string>;
  /** Sends all webhooks of the application to this URL. */
  point(url: string): Promise<void>;
  /**
   * Restores the former URLs, except settings that somebody has changed meanwhile. Rejects with an Error that lists the
   * former URLs.
   */
  restore(): Promise<void>;
}

/** Uses the application through the REST API at `api`. */
export function createPointed(api: string, { applicationId, secret }: ApplicationAccess): Pointed {
  const lapel = createLapelClient({ baseUrl: api, applicationId, secret });
  let before: { readonly url: string; readonly settings: readonly (readonly [string, string | null])[] } | undefined;
  return {
    async readKey() {
      const { authenticationKey } = await lapel.readSettings();
      if (authenticationKey !== undefined) return authenticationKey;
      throw new UsageError('--application', `${applicationId} has no authenticationKey; issue one first`);
    },
    async point(url) {
      const now = await lapel.readSettings();
      before = { url, settings: WEBHOOK_SETTINGS.map((name) => [name, now[name] ?? null]) };
      await lapel.updateSettings({ body: Object.fromEntries(WEBHOOK_SETTINGS.map((name) => [name, url])) });
    },
    async restore() {
      if (!before) return;
      const { url, settings } = before;
      try {
        const now: Readonly<Record<string, unknown>> = { ...(await lapel.readSettings()) };
        const ours = settings.filter(([name]) => now[name] === url);
        if (ours.length > 0) await lapel.updateSettings({ body: Object.fromEntries(ours) });
      } catch (cause) {
        const urls = settings.map(([name, old]) => `${name}: ${old ?? 'none'}`).join(', ');
        throw new Error(`the settings still have the URL ${url}; before it was ${urls}: ${(cause as Error).message}`, {
          cause,
        });
      }
    },
  };
}
