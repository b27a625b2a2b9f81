import { GROUPS } from './commands.ts';
import { EXIT_CODES } from './line/command.ts';
import { SERVICE_COMMANDS } from './line/service-commands.ts';

const SECTIONS: readonly [title: string, groups: readonly string[]][] = [
  ['Service', Object.keys(SERVICE_COMMANDS)],
  ['Accounts', ['login', 'logout', 'profiles', 'token']],
  ['Devices of an application', ['device', 'rollout', 'settings', 'webhook']],
  ['Software for devices', ['app', 'package', 'version']],
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

/** The text of `lapel --help`. */
export function overview(): string {
  const lines = SECTIONS.flatMap(([title, names]) => [
    '',
    title,
    ...names.flatMap((name) => {
      const words = wordsOf(name);
      return [
        `  lapel ${name.padEnd(12)} ${ABOUT.get(name)}`,
        ...(words === '' ? [] : [`  ${' '.repeat(18)} ${words}`]),
      ];
    }),
  ]);
  return `Lapel: an MQTT device broker with an embedded management API.
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
}
