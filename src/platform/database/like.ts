/** The end of a condition `LOWER(column) LIKE ?` whose pattern is made by `containing`. */
export const ESCAPE = `ESCAPE '!'`;

/** The LIKE pattern for texts that contain this one, regardless of case. */
export const containing = (text: string): string => `%${text.toLowerCase().replaceAll(/[%_!]/g, '!$&')}%`;
