import { type Colour, colourOf, type Look } from './look.ts';
import { oneLine } from './plain-text.ts';
import { cut, padEnd, widthOf } from './text-width.ts';

/** A column: its head, and the cell of each row. */
export interface Column<Row> {
  head: string;
  cell(row: Row): string | number | null | undefined;
  /** True when the cells may be cut to fit a terminal; used for texts, but never for values that people copy. */
  flexible?: boolean;
  /** True when the cells are states, which have colours. */
  state?: boolean;
}

const GAP = 2;
// Columns of text. A column is not cut below this width, because such a short piece of a text would say nothing.
const NARROWEST = 8;

/** A field of a JSON body as text; empty for null. */
export function fieldText(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A local date-time as `2026-11-20 18:30:00`; empty for null. */
export const timeText = (value: unknown): string => fieldText(value).slice(0, 19).replace('T', ' ');

/** Narrows the widest flexible columns until the row fits. */
function fit(widths: number[], flexible: readonly boolean[], room: number): number[] {
  const fitted = [...widths];
  const total = (): number => fitted.reduce((sum, width) => sum + width, GAP * (fitted.length - 1));
  while (total() > room) {
    const candidates = fitted.map((width, index) => (flexible[index] ? width : 0));
    const widest = Math.max(...candidates);
    if (widest <= NARROWEST) break; // the columns are as narrow as they may be, so the row will wrap
    const second = Math.max(NARROWEST, ...candidates.filter((width) => width < widest));
    fitted[candidates.indexOf(widest)] = Math.max(second, widest - (total() - room), NARROWEST);
    if (second === widest) break;
  }
  return fitted;
}

/** The rows of a table one below the other, with a line for each cell: a terminal that is too narrow would wrap them. */
function blocks<Row>(
  columns: readonly Column<Row>[],
  heads: readonly string[],
  cells: readonly (readonly string[])[],
  paint: Look['paint'],
): string {
  const width = Math.max(...heads.map(widthOf));
  const lineOf = (text: string, index: number): string =>
    `${paint('bold', padEnd(heads[index] ?? '', width))}  ${paint(columns[index]?.state ? colourOf(text) : undefined, text)}\n`;
  return cells.map((row) => row.map(lineOf).join('')).join('\n');
}

/**
 * A table for people: columns are as wide as they need and the terminal allows. Where they do not fit, each row is a
 * block of lines. The text `none` replaces a table without rows.
 */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  none: string,
): (look: Look) => string {
  return ({ width, paint }) => {
    if (rows.length === 0) return `${none}\n`;
    const heads = columns.map(({ head }) => oneLine(head));
    const cells = rows.map((row) => columns.map(({ cell }) => oneLine(String(cell(row) ?? '-'))));
    const wanted = columns.map((_, index) => Math.max(...[heads, ...cells].map((line) => widthOf(line[index]!))));
    const flexible = columns.map((column) => column.flexible === true);
    const widths = width === null ? wanted : fit(wanted, flexible, width);
    if (width !== null && widths.reduce((sum, one) => sum + one, GAP * (widths.length - 1)) > width)
      return blocks(columns, heads, cells, paint);
    const lineOf = (line: readonly string[], colour: (index: number, text: string) => Colour | undefined): string =>
      line
        .map((text, index) => {
          const shown = padEnd(flexible[index] ? cut(text, widths[index]!) : text, widths[index]!);
          return paint(colour(index, text), index === line.length - 1 ? shown.trimEnd() : shown);
        })
        .join(' '.repeat(GAP))
        .trimEnd();
    const lines = [
      lineOf(heads, () => 'bold'),
      ...cells.map((line) => lineOf(line, (index, text) => (columns[index]?.state ? colourOf(text) : undefined))),
    ];
    return lines.map((line) => `${line}\n`).join('');
  };
}

/** Certificates in PEM: they are copied, and have no character that could deceive. */
const PEM = /^(-----BEGIN CERTIFICATE-----\n([A-Za-z0-9+/=]{1,76}\n)+-----END CERTIFICATE-----\n?)+$/;

/** A record for people: a line for each field that has a value, and certificates with their lines. */
export function recordText(record: object): (look: Look) => string {
  const entries = (Object.entries(record) as [string, unknown][])
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [oneLine(name), value] as const);
  const width = Math.max(0, ...entries.map(([name]) => widthOf(name)));
  return ({ paint }) =>
    entries
      .map(([name, value]) => {
        if (typeof value === 'string' && PEM.test(value)) return `${paint('dim', name)}\n${value.trimEnd()}\n`;
        const text = oneLine(fieldText(value));
        return `${paint('dim', padEnd(name, width))}  ${paint(colourOf(text), text)}\n`;
      })
      .join('');
}
