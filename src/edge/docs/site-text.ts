import { html } from './html.ts';
import type { Links } from './links.ts';
import { ASYNC_API, isText, SEARCH_INDEX } from './names.ts';
import { serversOf, withServers } from './servers.ts';
import { shellWord } from './shell-word.ts';
import { fill, withoutService } from './slots.ts';

/** The settings of a service that its documents name. */
export interface Named {
  /** The release of the interface that is served. */
  apiRelease: string;
  /** The time zone of local date-times in the bodies of the REST API. */
  timeZone: string;
  /** The URL of the API that callers use (`{base_url}`), without a slash at its end. */
  publicUrl: string;
  /** The URLs that devices connect to: an `mqtt`, `mqtts`, `ws` or `wss` URL for each listener. */
  mqttUrls: readonly string[];
}

interface Parts {
  named: Named;
  links: Links;
}

const inHtml = (text: string): string => html`${text}`.html;
const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

/** The text of a file as a service or a folder has it, from the text that was made for all of them. */
export function siteText(name: string, made: string, { named, links }: Parts): string {
  const forReading = isText(name);
  if (!forReading && !/\.(?:html|json)$/.test(name) && name !== SEARCH_INDEX) return made;
  const inPlace = name.endsWith('.html') ? inHtml : inJson;
  const escaped = forReading ? (text: string) => text : inPlace;
  const brokers = Object.values(serversOf(named.mqttUrls));
  const servers = () =>
    brokers
      .map(({ protocol, host, description = '' }) =>
        forReading
          ? `\`${protocol}://${host}\` ${description}. `
          : html`<code>${protocol}://${host}</code> ${description}. `.html,
      )
      .join('');
  const text = fill(links.isFolder ? withoutService(made) : made, {
    publicUrl: () => escaped(named.publicUrl),
    shellUrl: (path) => escaped(shellWord(named.publicUrl + path)),
    timeZone: () => escaped(named.timeZone),
    apiRelease: () => escaped(named.apiRelease),
    servers,
    page: (page) => escaped(links.page(page)),
    file: (file) => escaped(links.file(file)),
    document: (document) => escaped(links.document(document)),
    begin: () => '',
    end: () => '',
  });
  return name === ASYNC_API ? withServers(text, named.mqttUrls) : text;
}
