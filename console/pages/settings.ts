import { URL_SETTINGS } from '../base/contract.ts';
import { button, dd, div, dl, dt, p, use, type VNode } from '../base/elements.ts';
import { useLoad } from '../base/load.ts';
import { operation, readSeen, type Seen, send } from '../base/requests.ts';
import { mayChange, session } from '../base/session.ts';
import { typed } from '../base/typed.ts';
import { askForChange } from '../parts/change.ts';
import { ask } from '../parts/dialog.ts';
import { textField } from '../parts/fields.ts';
import { head } from '../parts/head.ts';
import { loaded } from '../parts/loaded.ts';
import { showSecret } from '../parts/secret.ts';
import { badge, card, id, outside } from '../parts/show.ts';

type Settings = Record<string, string | null>;

/** The settings by name, each with a description of the requests that its URL gets. */
const ABOUT: Readonly<Record<string, string>> = URL_SETTINGS;

function change(seen: Seen<Settings>, done: () => void): void {
  const names = Object.keys(ABOUT);
  const request = operation('readSettings');
  askForChange<Settings>({
    title: 'Change the webhook URLs',
    seen,
    fields: (settings) =>
      names.map((name) =>
        textField(
          { name, label: name, value: settings[name] ?? '', hint: ABOUT[name]! },
          { type: 'url', placeholder: 'https://' },
        ),
      ),
    does: 'Change',
    async send(data, { value, tag }) {
      const changed = names
        .map((name) => [name, typed(data, name) ?? null] as const)
        .filter(([name, url]) => (value[name] ?? null) !== url);
      if (changed.length === 0) return false;
      await send(operation('updateSettings'), { json: Object.fromEntries(changed), ifMatch: tag });
      done();
      return true;
    },
    read: () => readSeen<Settings>(request),
    shown: (settings) => Object.fromEntries(names.map((name) => [name, settings[name] ?? null])),
    done: () => 'The URLs were changed.',
  });
}

function issueKey(hasKey: boolean, done: () => void): void {
  ask({
    title: hasKey ? 'Issue a new authenticationKey?' : 'Issue the authenticationKey',
    text: hasKey
      ? 'The new key signs webhooks from the next attempt on. For 24 hours webhooks also carry a signature with the old key.'
      : 'The service signs webhooks with the key. Store it where your receiver can read it.',
    does: 'Issue the key',
    async act() {
      const { authenticationKey } = (await (await send(operation('issueKey'))).json()) as {
        authenticationKey: string;
      };
      done();
      showSecret('The authenticationKey', 'Your receiver verifies webhooks with it.', authenticationKey);
    },
  });
}

function Settings() {
  const settings = useLoad('settings', (signal) => readSeen<Settings>(operation('readSettings'), { signal }));
  const { value } = settings.state.value;
  const hasKey = Boolean(value?.value['authenticationKey']);
  return [
    head({
      title: 'Settings',
      actions:
        value && mayChange('application')
          ? [
              button(
                { type: 'button', class: 'main', onClick: () => change(value, settings.again) },
                'Change the URLs',
              ),
              button(
                { type: 'button', onClick: () => issueKey(hasKey, settings.again) },
                hasKey ? 'New key' : 'Issue the key',
              ),
            ]
          : null,
    }),
    card(
      { title: 'Application', bare: true },
      loaded(settings, ({ value: all }) =>
        dl(
          { class: 'facts' },
          div(null, dt(null, 'applicationId'), dd(null, id(session.value?.applicationId ?? ''))),
          div(null, dt(null, 'Scopes'), dd(null, (session.value?.scopes ?? []).join(', '))),
          div(
            null,
            dt(null, 'authenticationKey'),
            dd(null, hasKey ? badge('good', 'issued') : badge('warn', 'not issued')),
          ),
          Object.keys(ABOUT).map((name) =>
            div(
              { key: name },
              dt(null, name),
              dd(null, div(null, outside(all[name]), p({ class: 'quiet small' }, ABOUT[name]))),
            ),
          ),
        ),
      ),
    ),
  ];
}

export const settingsPage = (): VNode => use(Settings, {});
