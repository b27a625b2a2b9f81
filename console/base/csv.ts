/**
 * Writes a field (RFC 4180). Spreadsheets carry out a text that begins like a formula, so it gets an apostrophe, with which
 * they show it as text.
 */
function fieldOf(value: string | number | null | undefined): string {
  const text = String(value ?? '');
  const safe = typeof value === 'string' && /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

type Fields = readonly (string | number | null | undefined)[];

/** Makes the lines of a CSV file. */
export const csvLines = (rows: readonly Fields[]): string =>
  rows.map((row) => `${row.map(fieldOf).join(',')}\r\n`).join('');

/** Makes a CSV file with a line of column names. */
export const csvOf = (names: readonly string[], rows: readonly Fields[]): string => csvLines([names, ...rows]);
