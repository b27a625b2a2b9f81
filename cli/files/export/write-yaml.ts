import type { SchemaTypes } from '@lapel/schemas/contracts/types';
import { Document } from 'yaml';

export const SCHEMA_FILE = 'lapel.schema.json';

/** A file that an export writes. */
export interface ExportedFile {
  name: string;
  content: SchemaTypes['files/configuration'];
  /** What a reader must know: fields that the service does not show, and placeholders. */
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
  const comments = notes.map((note) => `# ${note}\n`).join('');
  return `# yaml-language-server: $schema=${SCHEMA_FILE}\n${comments}${document.toString({ lineWidth: 0 })}`;
}
