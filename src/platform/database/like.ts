/** What follows `LOWER(column) LIKE ?` whose value is made here. */
export const ESCAPE = `ESCAPE '!'`;

/** A pattern for texts that contain this one, whatever its case. */
export const containing = (text: string): string => `%${text.toLowerCase().replaceAll(/[%_!]/g, '!$&')}%`;
