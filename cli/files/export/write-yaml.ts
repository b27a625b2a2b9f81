import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { Document } from 'yaml';
import { oneLine } from '../../show/plain-text.ts';

export const SCHEMA_FILE = 'lapel.schema.json';

/** A file that an export writes. */
export interface ExportedFile {
  name: string;
  content: SchemaTypes['files/configuration'];
  /** Comments for the reader: fields that the service does not show, objects that are left out. */
  notes: readonly string[];
}

/** A text of the service that looks like a reference is no reference. */
function escaped(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('${', () => '$${');
  if (Array.isArray(value)) return value.map(escaped);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, escaped(one)]));
}

/** Writes a file as YAML, with the line by which editors find the schema. */
export function yamlOf({ content, notes }: ExportedFile): string {
  const document = new Document(escaped(content), { aliasDuplicateObjects: false });
  // A name of the service in a note could have line breaks, and go on as YAML.
  const comments = notes.map((note) => `# ${oneLine(note)}\n`).join('');
  return `# yaml-language-server: $schema=${SCHEMA_FILE}\n${comments}${document.toString({ lineWidth: 0 })}`;
}
