import { shellWord } from '../../shell-word.ts';
import { SLOTS } from '../../slots.ts';
import { commandOf } from './commands.ts';
import type { Operation, Parameter } from './operation.ts';

/** A call of an operation, in a language. */
export interface Sample {
  lang: 'Shell' | 'TypeScript';
  label: 'curl' | 'Command line' | 'TypeScript';
  source: string;
}

const isGiven = ({ required, example }: Parameter): boolean => required === true && example !== undefined;

function addressOf({ path, parameters }: Operation): string {
  const values = new Map(parameters.map(({ name, example }) => [name, String(example)]));
  const segments = path.split('/').map((part) => (part.startsWith('{') ? values.get(part.slice(1, -1)) : part));
  const filled = segments.join('/');
  const query = parameters.filter((one) => one.in === 'query' && isGiven(one));
  if (query.length === 0) return filled;
  const pairs = query.map(({ name, example }) => [name, String(example)] as [string, string]);
  return `${filled}?${new URLSearchParams(pairs).toString()}`;
}

function curl(operation: Operation): string {
  const { method, scope, body, answers, id } = operation;
  const words = ['curl'];
  const lines: string[] = [];
  if (answers.some(({ type }) => type === 'text/event-stream')) words.push('-N');
  if (method !== 'GET' && !(method === 'POST' && body)) words.push(`-X ${method}`);
  if (id === 'issueToken') words.push('-u "patrol:$SECRET"');
  if (scope !== null) lines.push('-H "Authorization: Bearer $TOKEN"');
  if (body && body.example !== undefined) {
    if (body.type === 'application/json') {
      lines.push("-H 'Content-Type: application/json'", `-d ${shellWord(JSON.stringify(body.example))}`);
    } else {
      for (const [name, value] of Object.entries(body.example as Record<string, string>))
        lines.push(`-d ${shellWord(`${name}=${value}`)}`);
    }
  }
  const url = SLOTS.shellUrl(addressOf(operation));
  return [`${words.join(' ')} ${url}`, ...lines].join(' \\\n  ');
}

/** A text as TypeScript, in single quotes. */
const text = (value: string): string => {
  const quoted = JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'");
  return `'${quoted}'`;
};

const LINE = 70;

/** A value as TypeScript: in one line where it is short. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const more = `${indent}  `;
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  const parts = (inner: string): string[] =>
    Array.isArray(value)
      ? value.map((item) => literal(item, inner))
      : Object.entries(value).map(
          ([name, member]) => `${/^[A-Za-z_]\w*$/.test(name) ? name : text(name)}: ${literal(member, inner)}`,
        );
  const short = parts(indent).join(', ');
  if (short === '') return open + close;
  if (indent.length + short.length <= LINE && !short.includes('\n'))
    return Array.isArray(value) ? `[${short}]` : `{ ${short} }`;
  return `${open}\n${parts(more)
    .map((part) => `${more}${part},\n`)
    .join('')}${indent}${close}`;
}

function typeScript({ id, parameters, body, answers }: Operation): string {
  const given: Record<string, unknown> = {};
  for (const { name, in: place, example } of parameters)
    if (place === 'path' && name !== 'applicationId') given[name] = example;
  const query = parameters.filter((one) => one.in === 'query' && isGiven(one));
  if (body?.example !== undefined) given['body'] = body.example;
  if (query.length > 0) given['query'] = Object.fromEntries(query.map(({ name, example }) => [name, example]));
  const input = Object.keys(given).length === 0 ? '' : literal(given);
  const hasAnswer = answers.some(({ status, type }) => status.startsWith('2') && type === 'application/json');
  return `${hasAnswer ? 'const answer = ' : ''}await lapel.${id}(${input});`;
}

/**
 * The calls of an operation in the languages that have it: the typed client and the command line have no streams, and no
 * messages of assistants, which need no scope.
 */
export function samplesOf(operation: Operation): Sample[] {
  const isStream = operation.answers.some(({ type }) => type === 'text/event-stream');
  const command = commandOf(operation.id);
  return [
    { lang: 'Shell', label: 'curl', source: curl(operation) },
    ...(command === undefined ? [] : [{ lang: 'Shell' as const, label: 'Command line' as const, source: command }]),
    ...(!operation.scope || isStream
      ? []
      : [{ lang: 'TypeScript' as const, label: 'TypeScript' as const, source: typeScript(operation) }]),
  ];
}
