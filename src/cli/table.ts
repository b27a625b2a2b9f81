/** A column: its head, and what a row has there. */
export interface Column<Row> {
  head: string;
  cell(row: Row): string | number | null | undefined;
}

// What others wrote (descriptions, error messages) must not move the cursor or break the lines.
const CONTROL = /\p{Cc}+/gu;
/** One line, whatever the text holds. */
export const oneLine = (text: string): string => text.replace(CONTROL, ' ');

/** A field of a JSON body in words; nothing for null. */
export function fieldText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A table for people: columns as wide as they need, `none` when there are no rows. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[], none: string): string {
  if (rows.length === 0) return `${none}\n`;
  const cells = rows.map((row) => columns.map(({ cell }) => oneLine(String(cell(row) ?? '-'))));
  const lines = [columns.map(({ head }) => head), ...cells];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]!.length)));
  return lines
    .map((line) => `${line.map((text, index) => text.padEnd(widths[index]!)).join('  ')}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('');
}
