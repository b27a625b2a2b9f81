/** What a parameter is, in the words of PostgreSQL. */
export type ParameterType = 'text' | 'bigint' | 'bytea';

const declared = new Map<string, readonly ParameterType[]>();

/**
 * Declares that a statement of the hot loop, or of what has many rows to change, may be carried out for many units of work at once, as one statement over
 * arrays of their values; answers its text, which is used as any other. `types`: of its parameters, in order. It must be one
 * of these, in which no sub-query stands before what is named:
 *   SELECT ...
 *   INSERT INTO table (...) VALUES (...), without ON CONFLICT
 *   UPDATE table SET ... WHERE ..., in which the columns that equal a parameter behind WHERE say what is changed
 *   DELETE FROM table WHERE ..., the same
 * SQLite carries out each by itself. A test holds every one that is declared against its single form.
 */
export function inSets(text: string, types: readonly ParameterType[]): string {
  declared.set(text, types);
  return text;
}

/** The types of a statement that was declared. */
export const setTypesOf = (text: string): readonly ParameterType[] | undefined => declared.get(text);

/** All that were declared. */
export const declaredSets = (): ReadonlyMap<string, readonly ParameterType[]> => declared;
