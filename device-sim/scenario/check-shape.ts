import { readFileSync } from 'node:fs';
import type { ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ScenarioFile } from './scenario-file.ts';
import { suggestName } from './suggest-name.ts';

/** A path in a document: keys and list indexes. */
export type Path = readonly (string | number)[];

/** A fault, with its path. */
export interface Fault {
  readonly path: Path;
  readonly text: string;
}

const SCHEMA = new URL('scenario.schema.json', import.meta.url);
/** The JSON Schema of scenarios, as text. */
export const schemaText = (): string => readFileSync(SCHEMA, 'utf8');

/** The most faults that are listed. */
const MOST_FAULTS = 20;

const decode = (pointer: string): Path =>
  pointer
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((key) => (/^\d+$/.test(key) ? Number(key) : key));

const keysOf = (schema: unknown): string[] => Object.keys((schema as { properties?: object }).properties ?? {});

/** A fault of the schema as a sentence. */
function faultOf({ keyword, instancePath, params, parentSchema = {}, data, message }: ErrorObject): Fault {
  const path = decode(instancePath);
  const { errorMessage, enum: words } = parentSchema as { errorMessage?: string; enum?: string[] };
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty']);
    return { path: [...path, name], text: `is unknown here; ${suggestName(name, keysOf(parentSchema))}` };
  }
  if (keyword === 'required') return { path: [...path, String(params['missingProperty'])], text: 'is needed' };
  if (words) return { path, text: `has no value ${JSON.stringify(data)}; ${suggestName(String(data), words)}` };
  return { path, text: errorMessage ?? message ?? 'is wrong' };
}

let compiled: ReturnType<typeof compile> | undefined;
function compile() {
  const ajv = new Ajv2020({
    allErrors: true,
    verbose: true,
    allowUnionTypes: true,
    strictTypes: false,
    // A test validates the schema against JSON Schema itself. Doing it here would take half of the time of `compile`.
    validateSchema: false,
    meta: false,
  });
  ajv.addKeyword('errorMessage');
  return ajv.compile<ScenarioFile>(JSON.parse(schemaText()) as object);
}

/**
 * Checks a document against the schema of scenarios; returns its faults, at most 20. An empty list: the document obeys
 * the schema.
 */
export function checkShape(document: unknown): Fault[] {
  compiled ??= compile();
  if (compiled(document)) return [];
  const errors = compiled.errors ?? [];
  // Where a value may have one of several forms, the schema reports the faults of every form. Only one fault is kept
  // for it.
  const forms = errors.filter(({ keyword }) => keyword === 'anyOf').map(({ instancePath }) => instancePath);
  const seen = new Set<string>();
  const faults: Fault[] = [];
  for (const error of errors) {
    const { instancePath, keyword } = error;
    if (keyword !== 'anyOf' && forms.some((form) => instancePath === form)) {
      // An unknown member is reported by its name, which helps more than a fault about the form of the whole object.
      if (keyword !== 'additionalProperties') continue;
    }
    // A fault inside one of the forms says more than that no form fits.
    if (keyword === 'anyOf' && errors.some((other) => other.instancePath.startsWith(`${instancePath}/`))) continue;
    const fault = faultOf(error);
    const key = JSON.stringify(fault.path);
    if (seen.has(key)) continue;
    seen.add(key);
    faults.push(fault);
  }
  return faults.slice(0, MOST_FAULTS);
}
