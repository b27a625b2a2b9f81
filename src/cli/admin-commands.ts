import { ADMIN_OPTIONS, openAdministration } from './admin-client.ts';
import { RESOURCES, type Resource, type Verb } from './admin-resources.ts';
import type { Command, Outcome } from './command.ts';
import { type Given, namePositionals, type Options, readArguments } from './command-line.ts';
import type { HttpClient } from './http-client.ts';
import { identify, openLocalFile } from './local-file.ts';
import { fetchAll } from './pages.ts';
import { fieldText, oneLine, table } from './table.ts';
import { createScreen, type Terminal } from './terminal.ts';
import { uploadFile } from './upload-file.ts';
import { UsageError } from './usage-error.ts';

const NAMES: Options = {
  package: { value: 'NAME', text: 'its package; by default the one in the APK file' },
  version: { value: 'V', text: 'its version; by default the one in the APK file' },
};

type Row = Readonly<Record<string, unknown>>;

const parametersOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
const fill = (path: string, values: Readonly<Record<string, string>>): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ''));

function bodyOf({ fields }: Verb, given: Given): Record<string, string> | undefined {
  if (!fields) return undefined;
  const entries = Object.entries(fields).map(([option, { field }]) => [field, given.text(option)] as const);
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** A record for people: a line for each field that is set. */
function recordText(record: Row): string {
  const entries = Object.entries(record).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${name.padEnd(width)}  ${oneLine(fieldText(value))}\n`).join('');
}

interface Call {
  resource: Resource;
  verb: Verb;
  given: Given;
  request: HttpClient;
  terminal: Terminal;
}

async function list({ resource: { columns }, verb, request }: Call, path: string, what: string): Promise<Outcome> {
  const key = verb.list ?? '';
  const { rows } = await fetchAll(request, path, { what, list: key });
  return {
    json: { ok: true, [key]: rows, total: rows.length },
    text: table(columns, rows as Row[], 'There are none.'),
  };
}

async function upload({ resource, verb, given, request, terminal }: Call): Promise<Outcome> {
  const [path = ''] = namePositionals(given.positionals, ['FILE']);
  await using file = await openLocalFile(path);
  const names = { package: given.text('package'), version: given.text('version') };
  const manifest = names.package === undefined || names.version === undefined ? await identify(file) : null;
  names.package ??= manifest?.package;
  names.version ??= manifest?.versionName ?? undefined;
  for (const [name, value] of Object.entries(names)) {
    if (value === undefined) throw new UsageError(`--${name}`, `is needed: ${file.name} does not say it`);
  }
  const values = names as { package: string; version: string };
  const label = `${values.package} ${values.version}`;
  const registering = { what: `register ${label}`, body: bodyOf(verb, given) };
  const { body: record } = await request('PUT', fill(verb.registerPath ?? '', values), registering);
  const { body } = await request(verb.method, fill(verb.path, values), { what: `get an upload URL for ${label}` });
  const screen = createScreen(terminal.stderr);
  await uploadFile(file, { url: String(body.urlList[0].uploadUrl), screen, terminal });
  return {
    json: { ok: true, ...(record as object), fileSize: file.size },
    text: table(resource.columns, [record as Row], ''),
  };
}

async function call({ verb, given, request }: Call, path: string, what: string): Promise<Outcome> {
  const body = bodyOf(verb, given);
  const answer = await request(verb.method, path, { what, ...(body && { body }) });
  const record = answer.body as Row;
  const done = `${verb.done ?? 'done'}: ${given.positionals.join(' ')}`;
  return { json: { ok: true, ...record }, text: answer.status === 204 ? `${oneLine(done)}\n` : recordText(record) };
}

function commandOf(resource: Resource, verb: Verb): Command {
  const isUpload = verb.kind === 'upload';
  const parameters = isUpload ? ['FILE'] : parametersOf(verb.path).map((name) => name.toUpperCase());
  const options: Options = { ...verb.fields, ...(isUpload && NAMES), ...ADMIN_OPTIONS };
  const what = `${verb.verb} ${resource.resource}`;
  return {
    name: `admin ${resource.resource} ${verb.verb}`,
    usage: [...parameters, '[options]'].join(' '),
    summary: verb.summary,
    options,
    ...(verb.examples && { examples: verb.examples }),
    async run(args, terminal) {
      const given = readArguments(args, options);
      const positionals = namePositionals(given.positionals, parameters);
      const request = await openAdministration(given, terminal);
      const parts = { resource, verb, given, request, terminal };
      if (isUpload) return upload(parts);
      const names = parametersOf(verb.path);
      const path = fill(verb.path, Object.fromEntries(names.map((name, index) => [name, positionals[index] ?? ''])));
      return verb.kind === 'list' ? list(parts, path, what) : call(parts, path, what);
    },
  };
}

export const ADMIN_COMMANDS: readonly Command[] = RESOURCES.flatMap((resource) =>
  resource.verbs.map((verb) => commandOf(resource, verb)),
);
