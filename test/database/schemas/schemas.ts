import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Known } from '../../../scripts/fixture/fill.ts';

/** The folder of the fixtures: a database of every schema, as SQL. */
export const SCHEMAS = import.meta.dirname;

/** The numbers of the schemas that have a fixture, in order. */
export const fixtureNumbers = (): number[] =>
  readdirSync(SCHEMAS)
    .filter((name) => name.endsWith('.sql.gz'))
    .map((name) => Number(name.slice(0, 4)))
    .sort((a, b) => a - b);

/** The statements of a fixture, with what a test must know besides; `receiver` takes the place of its webhooks' URL. */
export function readFixture(number: number, receiver?: string): { known: Known; text: string } {
  const file = join(SCHEMAS, `${String(number).padStart(4, '0')}.sql.gz`);
  const text = gunzipSync(readFileSync(file)).toString();
  const known = JSON.parse(text.slice('-- '.length, text.indexOf('\n'))) as Known;
  return { known, text: receiver === undefined ? text : text.replaceAll(known.receiver, receiver) };
}
