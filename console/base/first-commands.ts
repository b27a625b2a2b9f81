import { PUBLIC } from './operations.ts';
import { ROOT } from './place.ts';
import { operation } from './requests.ts';

/** A command that can be the first one of a developer: it changes little, and every device knows it. */
interface FirstCommand {
  name: string;
  asked: 'activate' | 'readConnectivity' | 'setLanguage';
  about: string;
  json?: object;
  query?: Record<string, string>;
  /** The words of the command line before the deviceId, and after it. */
  words: readonly [before: string, after: string];
}

export const FIRST_COMMANDS: readonly FirstCommand[] = [
  {
    name: 'Activate',
    asked: 'activate',
    about: 'Activates the device for this application. Other commands need it.',
    json: {},
    words: ['activate', ''],
  },
  {
    name: 'Set language',
    asked: 'setLanguage',
    about: 'Sets the language of the screen and of the voice to Japanese.',
    json: { lang: 'ja-JP' },
    words: ['language', ' ja-JP'],
  },
  {
    name: 'Read Bluetooth',
    asked: 'readConnectivity',
    about: 'Asks whether Bluetooth is on. It changes nothing.',
    query: { type: 'bluetooth' },
    words: ['bluetooth state', ''],
  },
];

/** Quotes a text for a POSIX shell. */
const quoted = (text: string): string => (/^[\w.:/@-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

const SCOPES = 'svc:application:read svc:device:read svc:device:write';

/** The line that puts the secret into the environment. The secret itself is known to the user only. */
export const SECRET_LINE = 'read -rs LAPEL_APPLICATION_SECRET && export LAPEL_APPLICATION_SECRET';

/** The three ways to send a command. They read the secret from the variable LAPEL_APPLICATION_SECRET. */
export function waysToSend({ asked, json, query, words }: FirstCommand, applicationId: string, deviceId: string) {
  const url = location.origin + ROOT;
  const { method, path } = operation(asked, { deviceId });
  const address = `${location.origin}${path}${query === undefined ? '' : `?${new URLSearchParams(query)}`}`;
  const body =
    json === undefined ? '' : ` \\\n  -H 'Content-Type: application/json' -d ${quoted(JSON.stringify(json))}`;
  const given = [
    'deviceId',
    ...Object.entries({ body: json, query })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}: ${JSON.stringify(value)}`),
  ];
  const [before, after] = words;
  return [
    {
      name: 'curl',
      code: `TOKEN=$(curl -s -u ${quoted(applicationId)}:"$LAPEL_APPLICATION_SECRET" -d grant_type=client_credentials \\
  -d 'scope=${SCOPES}' \\
  ${quoted(url + PUBLIC.issueToken.path)} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -X ${method} -H "Authorization: Bearer $TOKEN"${body} \\
  ${quoted(address)}`,
    },
    {
      name: 'Command line',
      code: `export LAPEL_URL=${quoted(url)} LAPEL_APPLICATION=${quoted(applicationId)}
lapel device ${before} ${quoted(deviceId)}${after} --wait`,
    },
    {
      name: 'TypeScript',
      code: `import { createLapelClient } from '@lapel/client';

const lapel = createLapelClient({
  baseUrl: ${JSON.stringify(url)},
  applicationId: ${JSON.stringify(applicationId)},
  secret: process.env['LAPEL_APPLICATION_SECRET'] ?? '',
});
const deviceId = ${JSON.stringify(deviceId)};
const { transactionId } = await lapel.${asked}({ ${given.join(', ')} });
console.log(await lapel.finished({ deviceId, transactionId }));`,
    },
  ] as const;
}
