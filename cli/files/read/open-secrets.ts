import { isSecretName } from '@lapel/schemas/base/secret-names';
import type { YamlPath } from '@lapel/schemas/base/yaml-place';
import { hasReference } from './references.ts';

/** Names that the list of secret names knows, and that hold no secret in these files. */
const HARMLESS = new Set(['secretTo', 'tokenTo', 'signature', 'signatures', 'softwareSignatures', 'authentication']);
/** Members whose names people choose. */
const FREE = new Set(['tags']);

/** The paths of texts that have the name of a secret, and are no reference: a reader of the files could read them. */
export function openSecrets(value: unknown, path: YamlPath = []): YamlPath[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]): YamlPath[] => {
    const at = [...path, Array.isArray(value) ? Number(name) : name];
    if (FREE.has(name) || HARMLESS.has(name)) return [];
    const isOpen = !Array.isArray(value) && isSecretName(name) && typeof one === 'string' && !hasReference(one);
    return isOpen ? [at] : openSecrets(one, at);
  });
}
