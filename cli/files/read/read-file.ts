import { lineOf, writtenPath, type YamlPath } from '@lapel/schemas/base/yaml-place';
import { type Contracts, loadContracts } from '@lapel/schemas/contracts/contracts';
import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { type Document, LineCounter, parseDocument } from 'yaml';
import { openSecrets } from './open-secrets.ts';
import type { FileFault, Place } from './place.ts';
import type { References } from './references.ts';

type Content = SchemaTypes['files/configuration'];

/** A file that was read: its content with references, and with the texts that these stand for. */
export interface ReadFile {
  name: string;
  /** The path by which the files that it names are found. */
  path: string;
  content: Content;
  written: Content;
  at(path: YamlPath): Place;
}

/** The most faults of a file that are told. */
const MOST_FAULTS = 20;
/** The most aliases that one anchor may have after all others are followed: a small file cannot become a large one. */
const MOST_ALIASES = 100;

let loaded: Contracts | undefined;

/** The path of a fault: the contracts write the indexes of lists as texts. */
function pathOf(value: unknown, loc: readonly string[]): YamlPath {
  let inner: unknown = value;
  return loc.map((key) => {
    const isList = Array.isArray(inner);
    inner = typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[key] : undefined;
    return isList ? Number(key) : key;
  });
}

function parsed(text: string, lines: LineCounter): { document: Document; value: unknown; fault?: string } {
  // The parser calls itself for each level, so a file of brackets only would use up the stack.
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' });
    if (document.errors.length > 0) return { document, value: null };
    return { document, value: document.toJS({ maxAliasCount: MOST_ALIASES }) };
  } catch (error) {
    const fault = error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message;
    return { document: parseDocument(''), value: null, fault };
  }
}

/** Reads one file. Gives the file, or its faults, each with its line and its field. */
export function readFile(
  { name, path, text }: { name: string; path: string; text: string },
  references: References,
): ReadFile | FileFault[] {
  const lines = new LineCounter();
  const { document, value, fault } = parsed(text, lines);
  if (fault !== undefined) return [{ file: name, line: 1, field: '', text: fault }];
  if (document.errors.length > 0)
    return document.errors
      .slice(0, MOST_FAULTS)
      .map(({ message, pos }) => ({ file: name, line: lines.linePos(pos[0]).line, field: '', text: message }));
  const at = (place: YamlPath): Place => ({ file: name, line: lineOf(document, lines, place) ?? 1 });
  const faults: FileFault[] = [];
  const refuse = (place: YamlPath, words: string): void => {
    faults.push({ ...at(place), field: writtenPath(place), text: words });
  };
  for (const place of openSecrets(value))
    refuse(place, `is a secret; write a reference to it, as \${env:NAME} or \${file:PATH}`);
  const content = references.resolve(value, path, refuse);
  loaded ??= loadContracts();
  // The check fills in defaults; a copy keeps apart what the file names, and what it does not.
  for (const { loc, msg } of loaded.faults('files/configuration', structuredClone(content)))
    refuse(pathOf(content, loc), msg);
  if (faults.length > 0) return faults.sort((a, b) => a.line - b.line).slice(0, MOST_FAULTS);
  return { name, path, content: content as Content, written: value as Content, at };
}
