import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { overview } from '@lapel/cli/overview';
import { ACTIONS, ROLLOUT } from '@lapel/device-sim/customer/action';
import { OPERATIONS } from '@lapel/device-sim/customer/operator';
import { PROGRAM_FAULTS } from '@lapel/device-sim/customer/program';
import { RECEIVER_FAULTS } from '@lapel/device-sim/customer/receiver-fault';
import { CASES } from '@lapel/device-sim/device-test/cases';
import { RULES as RULES_OF_DEVICES } from '@lapel/device-sim/device-test/rules';
import { FAULTS } from '@lapel/device-sim/faults/fault';
import { CHECKS } from '@lapel/device-sim/promises/checks';
import { PROMISES } from '@lapel/device-sim/promises/promises';
import { FIGURES } from '@lapel/device-sim/report/figure-names';
import { openScenario, readyNames } from '@lapel/device-sim/scenario/ready';
import { WEARERS } from '@lapel/device-sim/scenario/wearing';
import { SERVICE_FAULTS } from '@lapel/device-sim/service/service-fault';
import { ERRORS } from '@lapel/schemas/contracts/errors';
import { optionName, SETTINGS, type Setting } from '@lapel/schemas/contracts/settings';
import { administrationTools } from '../../src/edge/mcp/administration-mcp.ts';
import { applicationTools } from '../../src/edge/mcp/application-mcp.ts';
import type { Tool } from '../../src/edge/mcp/tool.ts';
import { createMetrics } from '../../src/metrics.ts';
import { DRIFTS } from '../../test/files/drifts.ts';
import { CLI_ROOMS, DEVICE_ROOMS, RULES, SIMULATOR_ROOMS, type Storeys, WINGS } from '../../test/rooms.ts';
import { IN_WORLDS, type InWorlds } from '../../test/simulation/breakages-in-worlds.ts';
import { PLANTED } from '../../test/simulation/planted.ts';
import { ALWAYS, AT_THE_END } from '../../test/simulation/promised-rows.ts';
import { FEATURES } from '../../test/simulation/swarm.ts';
import { rowsOf, PAGE as TRIALS_PAGE } from './trial/passes.ts';

const ROOT = join(import.meta.dirname, '../..');

const code = (text: string): string => `\`${text}\``;
const list = (words: readonly string[]): string => words.map(code).join(', ');
const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
const rooms = (folder: string, all: Storeys): string =>
  table(
    ['Room', 'What is in it', 'Alone imports'],
    Object.entries(all).map(([name, { about, owns = [] }]) => [code(`${folder}/${name}/`), about, list(owns)]),
  );
/** How many breakages the worlds find, and the table of the others. */
function breakagesInWorlds(all: readonly (readonly [name: string, inWorlds: InWorlds])[]): string {
  const seeds = all.map(([, one]) => one).filter((one) => typeof one === 'number');
  const middle = seeds.toSorted((one, other) => one - other)[seeds.length >> 1];
  const unfound = all.flatMap(([name, one]) => (typeof one === 'string' ? [[code(name), one] as const] : []));
  const unplayed = all.filter(([, one]) => one === null).length;
  return [
    `Of ${all.length} breakages ${seeds.length} were found, half of these within ${middle} worlds, and all within ${Math.max(...seeds)}` +
      `${unplayed === 0 ? '' : `; ${unplayed} were not played`}.`,
    'No world has shown these:',
    '',
    table(['Breakage', 'Why'], unfound),
  ].join('\n');
}

/** The table of the wings of src/. A row in bold is a wing; the rows below it are its rooms. */
const wings = (): string =>
  table(
    ['Wing, room', 'What is in it', 'Alone imports'],
    Object.entries(WINGS).flatMap(([wing, { about, rooms: inWing }]) => [
      [`**${code(`src/${wing}/`)}**`, `**${about}**`, ''],
      ...Object.entries(inWing).map(([name, room]) => [
        code(`src/${wing}/${name}/`),
        room.about,
        list(room.owns ?? []),
      ]),
    ]),
  );

interface Manifest {
  description: string;
  workspaces?: string[];
  dependencies?: Readonly<Record<string, string>>;
}
const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest;
/** The packages of this repository, each with those of it that it imports, and with its libraries. */
const packages = (): string => {
  const rows = ['.', ...(manifestOf('.').workspaces ?? [])].map((folder) => {
    const { description, dependencies = {} } = manifestOf(folder);
    const own = (name: string): boolean => name.startsWith('@lapel/');
    const names = Object.keys(dependencies);
    const imported = names.filter(own).map((name) => `${name.slice('@lapel/'.length)}/`);
    const libraries = names.filter((name) => !own(name));
    return [code(folder === '.' ? 'src/' : `${folder}/`), description, list(imported), list(libraries)];
  });
  return table(['Package', 'What it is', 'Imports', 'Libraries'], rows);
};

interface Metric {
  name: string;
  type: string;
  help: string;
  labelNames?: string[];
}
const metrics = (): string =>
  table(
    ['Metric', 'Type', 'Labels', ''],
    (createMetrics().registry.getMetricsAsArray() as unknown as Metric[]).map(({ name, type, help, labelNames }) => [
      code(name),
      type,
      list(labelNames ?? []),
      help,
    ]),
  );

const settings = (rank: Setting['rank']): string =>
  table(
    ['Setting', 'Option', 'Default', ''],
    SETTINGS.filter((setting: Setting) => setting.rank === rank).map(
      ({ name, fallback, description, secret }: Setting) => [
        code(name),
        secret ? '' : code(`--${optionName(name)}`),
        fallback === null ? '' : code(fallback),
        description,
      ],
    ),
  );

/** Only the names and descriptions of the tools are read. */
const NO_DOCUMENTS = {} as Parameters<typeof applicationTools>[0];
const toolRows = (tools: readonly Tool[]): string =>
  table(
    ['Tool', 'It answers', 'Changes need'],
    tools.map(({ name, description, writes }) => [code(name), description, writes === undefined ? '' : code(writes)]),
  );

/**
 * The parts of the documents that are made from the code, by file and by the name in the marks `<!-- NAME -->` around
 * them.
 */
const TABLES: Readonly<Record<string, Readonly<Record<string, () => string>>>> = {
  'docs/reference.md': {
    'first settings': () => settings('first'),
    settings: () => settings(undefined),
    'advanced settings': () => settings('advanced'),
    metrics,
  },
  'docs/assistants.md': {
    tools: () => toolRows(applicationTools(NO_DOCUMENTS)),
    'tools of administration': () => toolRows(administrationTools(NO_DOCUMENTS)),
  },
  'docs/errors.md': {
    errors: () =>
      table(
        ['Code', 'Status', 'Text', 'When'],
        Object.entries(ERRORS).map(([name, { status, text, when }]) => [
          `<a id="${name}"></a>${code(name)}`,
          String(status),
          code(text),
          when,
        ]),
      ),
  },
  'docs/qa.md': {
    scenarios: () =>
      table(
        ['Scenario', 'Devices', ''],
        readyNames().map((name) => {
          const { file } = openScenario(name);
          return [code(name), String(file.devices), file.about ?? ''];
        }),
      ),
    actions: () =>
      table(
        ['`do`', ''],
        [
          ...Object.entries(ACTIONS).map(([name, about]) => [code(name), `the customer ${about}`]),
          ...Object.entries(ROLLOUT).map(([name, about]) => [code(name), `the customer ${about}`]),
          ...Object.entries(OPERATIONS).map(([name, about]) => [code(name), `the operator ${about}`]),
          ...Object.entries(WEARERS).map(([name, { about }]) => [code(name), `the wearer ${about}`]),
        ],
      ),
    faults: () =>
      table(
        ['Fault', 'At each', ''],
        Object.entries(FAULTS).map(([name, { occasion, about }]) => [code(name), occasion, about]),
      ),
    'faults of the receiver': () =>
      table(
        ['Fault', 'The receiver'],
        Object.entries(RECEIVER_FAULTS).map(([name, about]) => [code(name), about]),
      ),
    'faults of programs': () =>
      table(
        ['Fault', 'Of', ''],
        Object.entries(PROGRAM_FAULTS).map(([name, { of, about }]) => [code(name), of, about]),
      ),
    'faults of the service': () =>
      table(
        ['Fault', ''],
        Object.entries(SERVICE_FAULTS).map(([name, about]) => [code(name), about]),
      ),
    cases: () =>
      table(
        ['Case', '', 'Rules'],
        Object.entries(CASES).map(([name, { about, rules, isByHand, isLong, isDrive }]) => [
          code(name),
          `${about}${isByHand ? ' (`--by-hand`)' : ''}${isLong ? ' (`--thorough`)' : ''}${isDrive ? ' (`--hours`)' : ''}`,
          rules.map((rule) => `[${code(rule)}](devices.md#${rule})`).join(', '),
        ]),
      ),
    figures: () =>
      table(
        ['Figure', '', 'In percent of'],
        Object.entries(FIGURES).map(([name, { about, base }]) => [code(name), about, base ? code(base) : '']),
      ),
  },
  'docs/configuration-files.md': {
    drifts: () =>
      table(
        ['Somebody', 'The plan', 'Field', ''],
        DRIFTS.map(({ by, found, field, refused, lasts }) => [
          by,
          `${refused === undefined ? '' : 'refuses '}${found}`,
          code(field),
          refused === undefined ? (lasts ?? '') : `${refused}: remove the other one, or make another version`,
        ]),
      ),
  },
  'docs/devices.md': {
    rules: () =>
      table(
        ['Name', 'Rule', 'Why'],
        Object.entries(RULES_OF_DEVICES).map(([name, { must, why }]) => [
          `<a id="${name}"></a>${code(name)}`,
          must,
          why,
        ]),
      ),
  },
  'docs/contributing/promises.md': {
    promises: () =>
      table(
        ['Promise', 'Made in', 'Check', 'Played by'],
        PROMISES.map(({ promise, source, checks, scenarios, test }) => [
          promise,
          `[${source.split('#')[0]}](../${source})`,
          list(checks),
          test === undefined ? list(scenarios) : code(`test/${test}`),
        ]),
      ),
    checks: () =>
      table(
        ['Check', 'Figure', ''],
        Object.entries(CHECKS).map(([name, { figure, about }]) => [code(name), code(figure), about]),
      ),
  },
  'docs/contributing/simulation.md': {
    invariants: () =>
      table(
        ['Invariant', 'Promise', 'Made in'],
        Object.entries({ ...ALWAYS, ...AT_THE_END }).map(([name, { promise, by }]) => [name, promise, code(by)]),
      ),
    'features of worlds': () =>
      table(
        ['Feature', 'A world has much of it'],
        Object.entries(FEATURES).map(([name, about]) => [code(name), about]),
      ),
    'faults of meetings': () =>
      table(
        ['Fault', 'Moments that meet', 'Found within'],
        PLANTED.map(({ name, about, within }) => [code(name), about, within === undefined ? '' : String(within)]),
      ),
    'breakages in worlds': () => breakagesInWorlds(Object.entries(IN_WORLDS)),
  },
  [TRIALS_PAGE]: {
    trials: () => table(['Trial', 'It shows', 'Last passed on'], rowsOf(readFileSync(join(ROOT, TRIALS_PAGE), 'utf8'))),
  },
  'docs/application-developers.md': { overview: () => `\`\`\`\n${overview()}\`\`\`` },
  'docs/architecture.md': {
    rooms: wings,
    packages,
    'rooms of the command line': () => rooms('cli', CLI_ROOMS),
    'rooms of the device library': () => rooms('device', DEVICE_ROOMS),
    'rooms of the simulator': () => rooms('device-sim', SIMULATOR_ROOMS),
    rules: () => RULES.map((name) => `- ${code(`${name}.ts`)}`).join('\n'),
  },
};

/**
 * For each document with such parts: the present text of the file, and the text that it should have. Throws when a mark
 * is missing.
 */
export function documents(): { file: string; now: string; wanted: string }[] {
  return Object.entries(TABLES).map(([name, tables]) => {
    const file = join(ROOT, name);
    const now = readFileSync(file, 'utf8');
    let wanted = now;
    for (const [mark, text] of Object.entries(tables)) {
      const [before, rest = ''] = wanted.split(`<!-- ${mark} -->`);
      const after = rest.split(`<!-- /${mark} -->`)[1];
      if (after === undefined) throw new Error(`${name} has no marks for the table of ${mark}`);
      wanted = `${before}<!-- ${mark} -->\n\n${text()}\n\n<!-- /${mark} -->${after}`;
    }
    return { file, now, wanted };
  });
}
