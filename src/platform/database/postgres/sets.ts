import { type ParameterType, setTypesOf } from '../set-form.ts';
import { type Bound, PARAMETER } from './statements.ts';

/**
 * A statement that does the work of many calls of another statement at once: instead of each parameter it has an array,
 * with one value per call.
 */
export interface SetForm {
  text: string;
  /**
   * True when the last column of each row is the number of the call that the row belongs to; the column is removed
   * before the rows are returned. Otherwise there is one row for each call, in the order of the calls.
   */
  numbered: boolean;
  /**
   * The positions of the parameters whose values identify the changed row. Two calls with the same values there must
   * not be in one set.
   */
  identity: readonly number[];
}

/**
 * The name of the last column of the rows that such a statement returns: the number of the call that a row belongs to.
 */
export const NUMBER = 'number_in_set';

const forms = new Map<string, SetForm | undefined>();

/**
 * Replaces each `?` by `given_1` and so on. Also returns the positions of the parameters that a column must equal
 * (`column = ?`); only parameters behind the position `from` of the text count.
 */
function named(text: string, from: number): { text: string; equalled: number[] } {
  let number = 0;
  const equalled: number[] = [];
  const replaced = text.replace(PARAMETER, (part: string, at: number) => {
    if (part !== '?') return part;
    number += 1;
    if (at >= from && /([^<>]=|\bIN\s*\()\s*$/.test(text.slice(0, at))) equalled.push(number - 1);
    return `given.given_${number}`;
  });
  return { text: replaced, equalled };
}

function makeForm(single: string, types: readonly ParameterType[]): SetForm {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`).join(', ');
  const names = [...types.map((_, index) => `given_${index + 1}`), 'given_number'].join(', ');
  const given = `unnest(${arrays}) WITH ORDINALITY AS given (${names})`;
  const number = `given.given_number AS ${NUMBER}`;
  const text = single.trim();
  if (/^SELECT\b/.test(text)) {
    const inner = named(text, text.length).text;
    const set = `SELECT one.*, ${number} FROM ${given} CROSS JOIN LATERAL (${inner}) AS one`;
    return { text: set, numbered: true, identity: [] };
  }
  const [, into, values, returning] =
    /^(INSERT INTO \w+\s*\([^)]*\))\s*VALUES\s*\(([\s\S]*?)\)\s*(RETURNING [\s\S]*)?$/.exec(text) ?? [];
  if (into !== undefined && values !== undefined) {
    const { text: selected, equalled } = named(values, 0);
    const set = `${into} SELECT ${selected} FROM ${given} ORDER BY given.given_number ${returning ?? 'RETURNING 1 AS one'}`;
    return { text: set, numbered: false, identity: equalled };
  }
  const [, remove, which] = /^(DELETE FROM \w+)\s(WHERE [\s\S]*)$/.exec(text) ?? [];
  if (remove !== undefined && which !== undefined) {
    const { text: whole, equalled } = named(which, 0);
    return { text: `${remove} USING ${given} ${whole} RETURNING ${number}`, numbered: true, identity: equalled };
  }
  const [, update, where, answered] =
    /^(UPDATE \w+ SET [\s\S]*?)\s(WHERE [\s\S]*?)(RETURNING [\s\S]*)?$/.exec(text) ?? [];
  if (update === undefined || where === undefined)
    throw new Error(`the statement has none of the forms that sets permit: ${single}`);
  const { text: whole, equalled } = named(text, update.length);
  const at = whole.search(/\sWHERE /);
  const back = answered === undefined ? ` RETURNING ${number}` : `, ${number}`;
  return { text: `${whole.slice(0, at)} FROM ${given}${whole.slice(at)}${back}`, numbered: true, identity: equalled };
}

/** The set form of a statement; undefined if it was not declared with `inSets`. */
export function setFormOf(single: string): SetForm | undefined {
  if (forms.has(single)) return forms.get(single);
  const types = setTypesOf(single.replace(/ RETURNING \w+ AS inserted_identity$/, ''));
  const form = types && makeForm(single, types);
  forms.set(single, form);
  return form;
}

/**
 * Divides calls into as few sets as possible, so that no set changes a row twice. Calls for the same row keep their
 * order.
 */
export function inDistinctSets<Call extends { values: readonly Bound[] }>(
  form: SetForm,
  calls: readonly Call[],
): Call[][] {
  if (form.identity.length === 0) return [[...calls]];
  const sets: { calls: Call[]; rows: Set<string> }[] = [];
  for (const call of calls) {
    const row = form.identity.map((index) => String(call.values[index])).join('\0');
    const index = sets.findLastIndex(({ rows }) => rows.has(row)) + 1;
    if (index === sets.length) sets.push({ calls: [], rows: new Set() });
    const set = sets[index] as (typeof sets)[number];
    set.calls.push(call);
    set.rows.add(row);
  }
  return sets.map(({ calls: one }) => one);
}
