import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { RunRecord } from '../report/record.ts';
import { UsageError } from '../usage-error.ts';

const SCHEMA = new URL('../report/report.schema.json', import.meta.url);
/** The JSON Schema of report.json, as text. */
export const reportSchemaText = (): string => readFileSync(SCHEMA, 'utf8');

let compiled: ReturnType<typeof compile> | undefined;
function compile() {
  const ajv = new Ajv2020({ allowUnionTypes: true, strictTuples: false, validateSchema: false, meta: false });
  return ajv.compile<RunRecord>(JSON.parse(reportSchemaText()) as object);
}

/** Returns a sentence about the first fault of a report; undefined if it obeys the schema. */
export function faultInReport(report: unknown): string | undefined {
  compiled ??= compile();
  if (compiled(report)) return undefined;
  const first = compiled.errors?.[0];
  const unknown = first?.params['additionalProperty'] as string | undefined;
  return `${first?.instancePath || 'it'} ${first?.message ?? 'is wrong'}${unknown === undefined ? '' : `: ${unknown}`}`;
}

/** Reads a report.json. Throws a UsageError that names the option and the file. */
export function readReport(option: string, file: string): RunRecord {
  let report: unknown;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new UsageError(option, `${file} cannot be read: ${(error as Error).message}`);
  }
  const fault = faultInReport(report);
  if (fault !== undefined) throw new UsageError(option, `${file} is not a report of this simulator: ${fault}`);
  return report as RunRecord;
}
