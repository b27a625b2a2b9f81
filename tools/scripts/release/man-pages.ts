import { ALL_COMMANDS } from '@lapel/cli/commands';
import { SERVICE_COMMANDS } from '@lapel/cli/line/service-commands';
import { optionName, SETTINGS, type Setting } from '@lapel/schemas/contracts/settings';
import { MANIFEST } from './lockfile.ts';

/** A text as roff shows it: a leading point or quote and each backslash would be commands, and `-` a hyphen. */
const text = (line: string): string =>
  line
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('`', '')
    .replace(/^([.'])/, '\\&$1');

const item = (head: string, about: string): string => `.TP\n.B ${text(head)}\n${text(about)}\n`;
const head = (name: string): string => `.TH ${name.toUpperCase()} 1 "" "Lapel ${MANIFEST.version}" "Lapel"\n`;

/** The page of `lapel`: its commands and all settings. */
export function manPage(): string {
  const service = Object.entries(SERVICE_COMMANDS).map(([name, { summary }]) => item(`lapel ${name}`, summary));
  const clients = ALL_COMMANDS.map(({ name, arguments: words = [], summary }) =>
    item(['lapel', name, ...words.map((word) => word.name)].join(' '), summary),
  );
  const settings = SETTINGS.map(({ name, fallback, description, secret }: Setting) =>
    item(secret ? name : `${name}, --${optionName(name)}`, `${description}. Default: ${fallback ?? 'none'}`),
  );
  return `${head('lapel')}.SH NAME
lapel \\- an MQTT device broker with an embedded management API, and its command line
.SH SYNOPSIS
.B lapel
.I COMMAND
[options]
.SH DESCRIPTION
${text('Developers manage devices through a REST API; the devices speak MQTT. The service is lapel serve. The other commands work on its data, or call its API. Each has --help with examples, and --json for scripts.')}
.SH COMMANDS OF THE SERVICE
${service.join('')}.SH OTHER COMMANDS
${clients.join('')}.SH SETTINGS
${text('Values come from the command line, else from the environment. The service of the Debian package reads them from /etc/lapel/lapel.env.')}
${settings.join('')}.SH FILES
${item('/etc/lapel/lapel.env', 'the settings of the service')}${item('/etc/credstore/lapel.*', 'secrets of the service, as credentials of systemd')}${item('/var/lib/lapel', 'the data folder: database, objects, keys, the administrator token')}.SH EXIT STATUS
${text('0 success; 1 failure; 2 wrong command line; 70 an unforeseen failure of the service; 78 a setting is wrong, the data folder is in use, or this Node does not fit; 130 interrupted.')}
.SH SEE ALSO
.BR lapel\\-sim (1),
.BR systemctl (1)
`;
}

/** The page of `lapel-sim`. */
export const manPageOfSimulator = (): string => `${head('lapel-sim')}.SH NAME
lapel\\-sim \\- simulated devices, fleets and customers for Lapel
.SH SYNOPSIS
.B lapel\\-sim
.I COMMAND
[options]
.SH DESCRIPTION
${text('Simulates devices that connect to a service, plays scenarios with whole fleets, and tries real devices and webhook receivers. lapel-sim --help lists the commands; each has --help with examples.')}
.SH SEE ALSO
.BR lapel (1)
`;
