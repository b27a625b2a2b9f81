import { join } from 'node:path';
import { ownVersion } from '@lapel/schemas/base/version';

interface Greeted {
  /** The addresses of the listeners, by their names. */
  addresses: Readonly<Record<string, string | undefined>>;
  admin: { token: string | null; tokenFile: string | null };
  dataDir: string;
}

/** Where the administrator token is, which is never shown itself. */
const tokenWords = ({ admin: { token, tokenFile }, dataDir }: Greeted): string =>
  tokenFile !== null
    ? `the token in ${tokenFile}`
    : token !== null
      ? 'the token in LAPEL_ADMIN_TOKEN'
      : `the token in ${join(dataDir, 'admin-token')}`;

const NAMES: Readonly<Record<string, string>> = {
  http: 'API',
  admin: 'Administration',
  mqtt: 'Devices',
  mqtts: 'Devices, TLS',
  ws: 'Devices, WebSocket',
  wss: 'Devices, WebSocket and TLS',
  objects: 'Files',
  metrics: 'Metrics',
};

/** The lines with which a service greets a person in a terminal, in place of the line of JSON that programs read. */
export function greetingOf(greeted: Greeted): string {
  const { addresses } = greeted;
  const rows = [
    ['Console', `${addresses['admin']}/console, with ${tokenWords(greeted)}`],
    ['Documents', `${addresses['http']}/docs`],
    ...Object.entries(addresses).flatMap(([name, url]) => (url ? [[NAMES[name] ?? name, url]] : [])),
  ];
  const width = Math.max(...rows.map(([name = '']) => name.length));
  return [
    `Lapel ${ownVersion()} is ready.`,
    '',
    ...rows.map(([name = '', text = '']) => `  ${name.padEnd(width)}  ${text}`),
    '',
    'Ctrl-C stops it; what was answered is stored.',
    '',
  ].join('\n');
}
