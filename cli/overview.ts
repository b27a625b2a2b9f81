import { GROUPS } from './commands.ts';
import { EXIT_CODES } from './line/command.ts';
import { SERVICE_COMMANDS } from './line/service-commands.ts';
import { wrap } from './show/text-width.ts';

const SECTIONS: readonly [title: string, groups: readonly string[]][] = [
  ['Service', Object.keys(SERVICE_COMMANDS)],
  ['Accounts', ['login', 'logout', 'profiles', 'token']],
  ['Devices of an application', ['device', 'rollout', 'release']],
  ['Events of an application', ['events', 'consumer', 'endpoint', 'settings', 'webhook']],
  ['Software for devices', ['app', 'package', 'version']],
  ['Assistants', ['mcp']],
  ['Configuration as files', ['plan', 'apply', 'export']],
  ['Administration', ['admin', 'keys']],
  ['Shell', ['completion']],
];
const ABOUT = new Map<string, string>([
  ...Object.entries(SERVICE_COMMANDS).map(([name, { summary }]) => [name, summary] as const),
  ...GROUPS.map(({ name, about }) => [name, about] as const),
]);

/** The second words of the commands of a group: `list show activate`. */
function wordsOf(name: string): string {
  const { commands = [] } = GROUPS.find((group) => group.name === name) ?? {};
  const words = [...new Set(commands.map((command) => command.name.split(' ')[1] ?? ''))].filter((word) => word !== '');
  return words.join(' ');
}

const INDENT = ' '.repeat(21);
/** The narrowest and the widest lines, in characters. */
const [NARROWEST, WIDEST] = [60, 120];

/** Breaks a line between words, so that it fits; the further lines of a command begin below its words. */
function wrapped(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const indent = line.startsWith(' ') ? INDENT : '';
  const [first = '', ...more] = wrap(line.slice(indent.length), width - indent.length);
  return [line.slice(0, indent.length) + first, ...more.map((rest) => indent + rest)];
}

/** The text of `lapel --help`, for a terminal of so many columns. */
export function overview(columns = WIDEST): string {
  const width = Math.min(WIDEST, Math.max(NARROWEST, columns));
  const lines = SECTIONS.flatMap(([title, names]) => [
    '',
    title,
    ...names.flatMap((name) => {
      const words = wordsOf(name);
      return [`  lapel ${name.padEnd(12)} ${ABOUT.get(name)}`, ...(words === '' ? [] : [INDENT + words])];
    }),
  ]);
  const text = `Lapel: an MQTT device broker with an embedded management API.
${lines.join('\n')}

Start
  lapel serve                                       a service with its data in ./data
  lapel admin developer create acme --name Acme --device-limit 10
  lapel admin application create patrol --developer acme --name Patrol
  lapel login                                       stores the application's secret
  lapel webhook listen --set deviceEvent            shows events and results
  lapel device activate 490154203237518

Every command has --help with examples, and --json for scripts. Values come from the command line, else from the
environment (LAPEL_APPLICATION, LAPEL_APPLICATION_SECRET, LAPEL_URL, LAPEL_ADMIN_URL, LAPEL_ADMIN_TOKEN, LAPEL_PROFILE),
else from the profile that lapel login stored. lapel --version (-V) prints the version.
${EXIT_CODES}
`;
  return text
    .split('\n')
    .flatMap((line) => wrapped(line, width))
    .join('\n');
}
