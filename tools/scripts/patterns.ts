import { readdirSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Options, parse, type Token } from 'acorn';

export interface Pattern {
  /** The path from the root of the project. */
  file: string;
  source: string;
  flags: string;
}

const ROOT = join(import.meta.dirname, '../..');

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending) && !name.endsWith('.d.ts'))
    .map((name) => `${folder}/${name}`)
    .sort();

/** The patterns of a file that are written as literals. */
function literalsIn(file: string): Pattern[] {
  const found: Pattern[] = [];
  const onToken = ({ value }: Token & { value?: { pattern?: string; flags?: string } }): void => {
    if (value?.pattern !== undefined) found.push({ file, source: value.pattern, flags: value.flags ?? '' });
  };
  const options: Options = { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onToken };
  parse(stripTypeScriptTypes(readFileSync(join(ROOT, file), 'utf8')), options);
  return found;
}

/**
 * The patterns that a file constructs with `RegExp` while it is loaded. Patterns that it constructs later cannot be
 * found.
 */
async function constructedIn(file: string): Promise<Pattern[]> {
  if (!/\bRegExp\(/.test(readFileSync(join(ROOT, file), 'utf8'))) return [];
  const found: Pattern[] = [];
  const Usual = globalThis.RegExp;
  globalThis.RegExp = new Proxy(Usual, {
    construct(target, [source, flags = '']: [string, string?]) {
      // counts only patterns that this file constructs, not those of libraries that it imports
      if (new Error().stack?.includes(file)) found.push({ file, source: String(source), flags });
      return new target(source, flags);
    },
  });
  try {
    await import(join(ROOT, file));
  } finally {
    globalThis.RegExp = Usual;
  }
  if (found.length === 0) throw new Error(`${file} makes a pattern in a function: write it as a literal`);
  return found;
}

/** The `pattern`s of a schema, with the flag with which Ajv compiles them. */
function patternsOf(file: string, node: unknown): Pattern[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([name, value]: [string, unknown]) =>
    name === 'pattern' && typeof value === 'string' ? [{ file, source: value, flags: 'u' }] : patternsOf(file, value),
  );
}

/** All patterns of the service, its pages and its schemas. */
export async function allPatterns(): Promise<Pattern[]> {
  const code = ['src', 'schemas', 'client', 'cli', 'console', 'device'].flatMap((folder) => filesIn(folder, '.ts'));
  const schemas = filesIn('schemas', '.json');
  const found = code.flatMap(literalsIn);
  for (const file of code.filter((name) => !name.startsWith('console/'))) found.push(...(await constructedIn(file)));
  for (const file of schemas) found.push(...patternsOf(file, JSON.parse(readFileSync(join(ROOT, file), 'utf8'))));
  return found;
}
