/** The PostgreSQL type of a parameter. */
export type ParameterType = 'text' | 'bigint' | 'bytea';

const declared = new Map<string, readonly ParameterType[]>();

/**
 * Declares that a statement may run as a set: one PostgreSQL statement, over arrays of values, for many units of work. Used
 * for statements of the hot path and for those that change many rows. Returns the text, which is used like any other.
 * `types` are those of its parameters, in order. The statement must have one of these forms, without a sub-query before the
 * parts that are named:
 *   SELECT ...
 *   INSERT INTO table (...) VALUES (...), without ON CONFLICT; the columns that equal a parameter in a sub-query identify
 *     rows that the statement may add itself
 *   UPDATE table SET ... WHERE ..., where the columns that equal a parameter behind WHERE identify the row
 *   DELETE FROM table WHERE ..., identified in the same way
 * SQLite runs each statement by itself. A test compares every declared set with the single statement.
 */
export function inSets(text: string, types: readonly ParameterType[]): string {
  declared.set(text, types);
  return text;
}

/** The parameter types of a statement that was declared for sets; undefined for any other statement. */
export const setTypesOf = (text: string): readonly ParameterType[] | undefined => declared.get(text);

/** All declared statements with their types. */
export const declaredSets = (): ReadonlyMap<string, readonly ParameterType[]> => declared;
