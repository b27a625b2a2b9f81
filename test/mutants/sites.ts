import { createHash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { type Node, parse } from 'acorn';
import { EQUIVALENT, type Equivalent } from './equivalent.ts';
import { type Change, isSkipped, OPERATORS } from './operators.ts';

const ROOT = join(import.meta.dirname, '../..');
const FOLDERS = ['src/core', 'src/edge'];
/** Files that the pages load are no part of the service's program. */
const ELSEWHERE = /\/files\/|\.d\.ts$/;

/** A change of one file of the project. */
export interface Site extends Change {
  /** The path from the project's folder on. */
  readonly file: string;
  readonly line: number;
  /** The text of the line, without the blanks around it. */
  readonly source: string;
  /** The text that is replaced. */
  readonly before: string;
}

const OPTIONS = { ecmaVersion: 'latest', sourceType: 'module' } as const;

/** Parses a module of TypeScript. Types become blanks, so every place is that of the source. */
export const parseModule = (text: string): Node => parse(stripTypeScriptTypes(text), OPTIONS);

function childrenOf(node: Node): Node[] {
  const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string';
  return Object.values(node).flat().filter(isNode);
}

/** All changes of a module, in their order, at most one at a place. */
export function changesOf(text: string): Change[] {
  const found = new Map<string, Change>();
  const textOf = ({ start, end }: Node): string => text.slice(start, end);
  function visit(node: Node): void {
    if (isSkipped(node, textOf)) return;
    for (const [operator, apply] of Object.entries(OPERATORS)) {
      const change = apply(node, textOf);
      if (change === null) continue;
      const place = `${change.start}-${change.end}`;
      if (!found.has(place)) found.set(place, { operator, ...change });
    }
    childrenOf(node).forEach(visit);
  }
  visit(parseModule(text));
  return [...found.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

export const mutated = (text: string, { start, end, after }: Change): string =>
  text.slice(0, start) + after + text.slice(end);

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

export const isEquivalent = (site: Site, all: readonly Equivalent[] = EQUIVALENT): boolean =>
  all.some(
    ({ file, source, before, after }) =>
      file === site.file && source === site.source && before === oneLine(site.before) && after === oneLine(site.after),
  );

const sourceOf = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

export function sitesOf(file: string): Site[] {
  const text = sourceOf(file);
  const lines = text.split('\n');
  return changesOf(text).map((change) => {
    const line = text.slice(0, change.start).split('\n').length;
    const source = lines[line - 1]!.trim();
    return { ...change, file, line, source, before: text.slice(change.start, change.end) };
  });
}

/** The characters of a change that people are shown. */
const SHOWN = 120;
const short = (text: string): string =>
  oneLine(text).length > SHOWN ? `${oneLine(text).slice(0, SHOWN)}...` : oneLine(text);

/** How a mutant is told to people, on one line. */
export const shown = ({ file, line, before, after, operator }: Site): string =>
  `${file}:${line}, ${operator}: ${short(before)} -> ${short(after)}`;

/** All sites of the service, except the equivalent ones. */
export const allSites = (): Site[] =>
  FOLDERS.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
    .filter((file) => !ELSEWHERE.test(file))
    .sort()
    .flatMap(sitesOf)
    .filter((site) => !isEquivalent(site));

/**
 * Chooses sites by a seed. Each site has a number of its own, made of the seed and the change, so a change of one file
 * leaves the choice in the others as it was.
 */
export function choose(sites: readonly Site[], seed: number, count: number): Site[] {
  const orderOf = ({ file, operator, before, after, line }: Site): string =>
    createHash('sha256')
      .update(JSON.stringify([seed, file, line, operator, before, after]))
      .digest('hex');
  return sites
    .map((site) => ({ site, order: orderOf(site) }))
    .sort((a, b) => (a.order === b.order ? a.site.start - b.site.start : a.order < b.order ? -1 : 1))
    .slice(0, count)
    .map(({ site }) => site);
}
