import { ADMIN_OPERATIONS } from '@lapel/client/admin-operations';
import { fillPath } from '@lapel/client/fill-path';
import type { Query } from '@lapel/client/transport';
import { ADMIN_OPTIONS, type Administration, openAdministration } from '../account/access.ts';
import { adminDeviceImport } from '../import/admin-device-import.ts';
import type { Command, Outcome } from '../line/command.ts';
import { type Given, readWhole } from '../line/command-line.ts';
import { limitOption, readLimit } from '../line/limit.ts';
import type { Argument, Option, Options } from '../line/options.ts';
import { readJson, readText } from '../line/read-json.ts';
import { UsageError } from '../line/usage-error.ts';
import type { Text } from '../show/look.ts';
import { render } from '../show/look.ts';
import { oneLine } from '../show/plain-text.ts';
import { recordText, table } from '../show/table.ts';
import { createScreen, type Terminal } from '../show/terminal.ts';
import { identify, openLocalFile } from '../software/local-file.ts';
import { uploadFile } from '../software/upload-file.ts';
import { ACTION_COMMANDS } from './action-commands.ts';
import type { Field, Resource, Row, Verb } from './admin-resource.ts';
import { RESOURCES } from './admin-resources.ts';
import { auditExport } from './audit-export.ts';
import { REMOVAL_COMMANDS, removalWatch } from './removal-commands.ts';
import { tokenRenew } from './token-renew.ts';

const NAMES: Options = {
  package: { value: 'NAME', text: 'the package; by default the one named in the APK file' },
  version: { value: 'V', text: 'the version; by default the one named in the APK file' },
};
const DEVELOPER = { developer: { value: 'ID', text: 'the developer' } } satisfies Options;
const PAGE = 1000;

const parametersOf = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/**
 * Makes an option of each field of a request's body. A field that may be null also gets an option `--no-NAME`, which
 * sends null.
 */
function optionsOf(fields: Readonly<Record<string, Field>>): Options {
  const pairs = Object.entries(fields).flatMap(([name, field]) => [
    [name, field] as const,
    ...(field.none === undefined ? [] : [[`no-${name}`, { text: field.none }] as const]),
  ]);
  return Object.fromEntries(pairs);
}

async function bodyOf(
  fields: Readonly<Record<string, Field>>,
  given: Given,
  terminal: Terminal,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {};
  for (const [name, { field, kind, none }] of Object.entries(fields)) {
    if (kind === 'flag') {
      if (given.flag(name)) body[field] = true;
      continue;
    }
    const text = given.text(name);
    if (none !== undefined && given.flag(`no-${name}`)) {
      if (text !== undefined) throw new UsageError(`--no-${name}`, `cannot be combined with --${name}`);
      body[field] = null;
    } else if (text !== undefined) {
      if (kind === 'json') body[field] = await readJson(`--${name}`, text, terminal);
      else if (kind === 'text') body[field] = await readText(`--${name}`, text, terminal);
      else body[field] = kind === 'number' ? readWhole(name, text) : text;
    }
  }
  return body;
}

const requestOf = (
  operation: Verb['operation'],
  values: Readonly<Record<string, string | undefined>>,
): { method: string; path: string } => {
  const { method, path } = ADMIN_OPERATIONS[operation];
  return { method, path: fillPath(path, values) };
};

interface Call {
  resource: Resource;
  verb: Verb;
  given: Given;
  administration: Administration;
  terminal: Terminal;
  request: { method: string; path: string };
  /** The action in words, for error messages. */
  what: string;
  body: Record<string, unknown> | undefined;
  /** Arguments of the command that become parameters of the query, by the names of these parameters. */
  asked: Record<string, string | undefined>;
}

const queryOf = ({ verb, given, asked }: Pick<Call, 'verb' | 'given' | 'asked'>): Query => {
  const valueIn = (name: string, { value, many, needs }: Option & { needs?: string }): Query[string] => {
    if (many) return given.list(name);
    if (value === undefined) return given.flag(name) ? 'true' : undefined;
    const text = given.text(name);
    if (text !== undefined && needs !== undefined && given.text(needs) === undefined)
      throw new UsageError(`--${name}`, `needs --${needs}`);
    return text;
  };
  return {
    ...asked,
    ...Object.fromEntries(
      Object.entries(verb.query ?? {}).map(([name, option]) => [option.parameter, valueIn(name, option)]),
    ),
  };
};

/** Lists as many rows as `--limit` asks for (or the default of the verb), page by page. */
async function listFirst(parts: Call): Promise<Outcome> {
  const { resource, verb, given, administration, request, what } = parts;
  const key = verb.list ?? '';
  const wanted = readLimit(given, verb.first);
  const rows: Row[] = [];
  let isWhole: boolean;
  const most = verb.most ?? PAGE;
  let query: Query = { ...queryOf(parts), limit: Math.min(wanted, most) };
  for (;;) {
    const { body, next } = await administration.page(what, { ...request, query });
    rows.push(...((body as Record<string, unknown>)[key] as Row[]));
    isWhole = !next;
    if (rows.length >= wanted || !next) break;
    query = { ...next, limit: Math.min(wanted - rows.length, most) };
  }
  const json = { ok: true, [key]: rows, ...(isWhole && { total: rows.length }) };
  return { json, text: table(verb.columns ?? resource.columns, rows, 'There are none.') };
}

async function list(parts: Call): Promise<Outcome> {
  const { resource, verb, administration, request, what } = parts;
  const key = verb.list ?? '';
  const rows: Row[] = [];
  for (;;) {
    const query = verb.whole ? queryOf(parts) : { offset: rows.length, limit: PAGE };
    const page = (await administration.request(what, { ...request, query })) as Record<string, unknown>;
    const found = page[key] as Row[];
    rows.push(...found);
    if (verb.whole || found.length === 0 || rows.length >= Number(page['total'])) break;
  }
  return {
    json: { ok: true, [key]: rows, total: rows.length },
    text: table(verb.columns ?? resource.columns, rows, 'There are none.'),
  };
}

async function upload({ resource, verb, given, administration, terminal, body }: Call): Promise<Outcome> {
  const [path = ''] = given.positionals;
  await using file = await openLocalFile(path);
  const names = { package: given.text('package'), version: given.text('version') };
  const manifest = names.package === undefined || names.version === undefined ? await identify(file) : null;
  names.package ??= manifest?.package;
  names.version ??= manifest?.versionName ?? undefined;
  for (const [name, value] of Object.entries(names)) {
    if (value === undefined) throw new UsageError(`--${name}`, `is needed: ${file.name} does not contain it`);
  }
  const label = `${names.package} ${names.version}`;
  const registering = requestOf(verb.registers ?? verb.operation, names);
  const record = (await administration.request(`register ${label}`, { ...registering, body })) as Row;
  const asking = requestOf(verb.operation, names);
  const urls = (await administration.request(`get an upload URL for ${label}`, asking)) as {
    urlList: { uploadUrl: string }[];
  };
  const screen = createScreen(terminal.stderr);
  await uploadFile(file, { url: String(urls.urlList[0]?.uploadUrl), screen, terminal });
  return { json: { ok: true, ...record, fileSize: file.size }, text: table(resource.columns, [record], '') };
}

async function call(parts: Call): Promise<Outcome> {
  const { verb, given, administration, request, what, body } = parts;
  const flags = Object.keys(verb.flags ?? {}).filter((name) => given.flag(name));
  const query = { ...queryOf(parts), ...Object.fromEntries(flags.map((name) => [name, 'true'])) };
  const answer = await administration.request(what, { ...request, query, body });
  const record = answer as Row | undefined;
  const done = oneLine(`${verb.done ?? 'done'}: ${given.positionals.join(' ')}`);
  const text: Text = (look) =>
    (record ? render(verb.show?.(record) ?? recordText(record), look) : `${done}\n`) +
    (verb.note ? `${look.paint('dim', verb.note)}\n` : '');
  const problem = record && verb.fails?.(record);
  return { json: { ok: problem === undefined, ...record }, text, ...(problem !== undefined && { problem }) };
}

/** An argument in brackets, `[NAME]`, is optional. */
const argumentOf = (word: string): Argument =>
  word.startsWith('[') ? { name: word.slice(1, -1), optional: true } : { name: word };

/** The first word of an operation's name is a verb, such as `read` or `replace`; the rest begins with a capital letter. */
const verbOf = (operation: string): string => /^[a-z]+/.exec(operation)?.[0] ?? operation;

/** The action of a command for messages. Some commands are named by a noun: `lapel admin device status`. */
function actionOf({ resource }: Resource, { verb, operation, isNoun }: Verb): string {
  if (verb === '') return verbOf(operation);
  return isNoun ? `${verbOf(operation)} the ${verb} of the ${resource}` : `${verb} ${resource}`;
}

function commandOf(resource: Resource, verb: Verb): Command {
  const { fields = {}, arguments: named = {}, kind } = verb;
  const { method, path } = ADMIN_OPERATIONS[verb.operation];
  const isUpload = kind === 'upload';
  const targets = Object.values(named);
  const parameters = parametersOf(path);
  const belongs = !isUpload && parameters.some((name) => name === 'developerId' && !targets.includes(name));
  const options: Options = {
    ...(belongs && DEVELOPER),
    ...optionsOf(fields),
    ...verb.flags,
    ...verb.query,
    ...(verb.first !== undefined && limitOption(verb.first)),
    ...(isUpload && NAMES),
    ...ADMIN_OPTIONS,
  };
  return {
    name: `admin ${resource.resource} ${verb.verb}`.trimEnd(),
    arguments: isUpload ? [{ name: 'FILE', file: true }] : Object.keys(named).map(argumentOf),
    summary: verb.summary,
    ...(verb.about !== undefined && { about: verb.about }),
    options,
    examples: verb.examples,
    ...(isUpload && { endsItself: true }),
    async run(given, terminal) {
      const values: Record<string, string | undefined> = Object.fromEntries(
        targets.map((target, index) => [target, given.positionals[index]]),
      );
      if (belongs) {
        values['developerId'] = given.text('developer');
        if (values['developerId'] === undefined) throw new UsageError('--developer', 'is needed');
      }
      const inBody = targets.filter((target) => !parameters.includes(target) && values[target] !== undefined);
      const takesBody = method !== 'GET' && (verb.body || Object.keys(fields).length > 0 || inBody.length > 0);
      const body = takesBody
        ? {
            ...verb.body,
            ...Object.fromEntries(inBody.map((target) => [target, values[target]])),
            ...(await bodyOf(fields, given, terminal)),
          }
        : undefined;
      const administration = await openAdministration(given, terminal);
      const what = actionOf(resource, verb);
      const asked = method === 'GET' ? Object.fromEntries(inBody.map((target) => [target, values[target]])) : {};
      const parts = {
        resource,
        verb,
        given,
        administration,
        terminal,
        request: requestOf(verb.operation, values),
        what,
        body,
        asked,
      };
      if (isUpload) return upload(parts);
      if (kind !== 'list') return call(parts);
      return verb.first === undefined ? list(parts) : listFirst(parts);
    },
  };
}

const FROM_TABLE = RESOURCES.flatMap((resource) => resource.verbs.map((verb) => commandOf(resource, verb)));
const BY_HAND = [...REMOVAL_COMMANDS, removalWatch, adminDeviceImport, ...ACTION_COMMANDS, auditExport, tokenRenew];

/** The resource of a command, such as `admin device`. */
const resourceOf = ({ name }: Command): string => name.split(' ').slice(0, 2).join(' ');

/** All commands of `lapel admin`. Those that are written by hand come last among the commands of their resource. */
export const ADMIN_COMMANDS: readonly Command[] = BY_HAND.reduce((commands, command) => {
  const last = commands.findLastIndex((other) => resourceOf(other) === resourceOf(command));
  return commands.toSpliced(last + 1, 0, command);
}, FROM_TABLE);
