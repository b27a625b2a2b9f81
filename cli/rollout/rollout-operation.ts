import { splitVersion } from '@lapel/schemas/base/package-version';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import type { Given } from '../line/command-line.ts';
import type { Options } from '../line/options.ts';
import { readJson } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import type { Terminal } from '../show/terminal.ts';

type Asked = Pick<SchemaTypes['rest/rollout-create'], 'operation' | 'parameters'>;

const FILE = { value: 'FILE', file: true } as const;

/** The options that say what is done on the devices: one of them, or a file with the whole rollout. */
export const OPERATION_OPTIONS = {
  install: { value: 'PACKAGE@VERSION', text: 'install this version of a package' },
  firmware: { value: 'PACKAGE@VERSION', text: 'update the firmware to this version' },
  language: { value: 'TAG', text: 'set this language, such as ja-JP' },
  diagnose: { value: 'KINDS', text: 'collect diagnostics: logs, status, network, or several of them as logs,network' },
  bluetooth: { value: 'STATE', choices: ['on', 'off'], text: 'turn Bluetooth on or off' },
  wifi: { ...FILE, text: 'set all Wi-Fi networks: file with a JSON array, as in the REST API (- is standard input)' },
  apn: { ...FILE, text: 'set all access point names: file with a JSON array, as in the REST API' },
} satisfies Options;

/** Reads PACKAGE@VERSION. Throws a UsageError. */
function readVersion(option: string, text: string): { package: string; version: string } {
  const { package: name, version } = splitVersion(text);
  if (!name || !version) throw new UsageError(`--${option}`, `"${text}" is not PACKAGE@VERSION`);
  return { package: name, version };
}

type Reader = (text: string, terminal: Terminal) => Asked | Promise<Asked>;

async function readEntries(option: string, path: string, terminal: Terminal): Promise<Asked['parameters']> {
  return (await readJson(option, path, terminal)) as Asked['parameters'];
}

const READERS: Readonly<Record<keyof typeof OPERATION_OPTIONS, Reader>> = {
  install: (text) => ({ operation: 'installSoftware', parameters: readVersion('install', text) }),
  firmware: (text) => ({ operation: 'updateFirmware', parameters: readVersion('firmware', text) }),
  language: (text) => ({ operation: 'setLanguage', parameters: { lang: text } }),
  diagnose: (text) => ({
    operation: 'collectDiagnostics',
    parameters: { kinds: text.split(',') } as Asked['parameters'],
  }),
  bluetooth: (text) => ({
    operation: 'setConnectivityState',
    parameters: { type: 'bluetooth', enabled: text === 'on' },
  }),
  wifi: async (path, terminal) => ({
    operation: 'setWifi',
    parameters: await readEntries('--wifi', path, terminal),
  }),
  apn: async (path, terminal) => ({ operation: 'setApn', parameters: await readEntries('--apn', path, terminal) }),
};

const NAMES = Object.keys(OPERATION_OPTIONS);
/** The options in words: `--install, --firmware and --apn`. */
export const OPERATIONS_IN_WORDS = `${NAMES.slice(0, -1)
  .map((name) => `--${name}`)
  .join(', ')} and --${NAMES.at(-1)}`;

/** Reads the operation with its parameters; undefined without one. Throws a UsageError. */
export async function readOperation(given: Given, terminal: Terminal): Promise<Asked | undefined> {
  const said = Object.entries(READERS).flatMap(([name, read]) => {
    const text = given.text(name);
    return text === undefined ? [] : [{ name, read, text }];
  });
  const [one, second] = said;
  if (second) throw new UsageError(`--${second.name}`, `give only one of ${OPERATIONS_IN_WORDS}`);
  return one?.read(one.text, terminal);
}
