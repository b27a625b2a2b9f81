import { plainText } from '../plain-text.ts';
import type { Verdict } from './record.ts';

export const wordOf = ({ holds, measurable }: Pick<Verdict, 'holds' | 'measurable'>): string =>
  holds ? 'OK' : measurable ? 'NOT OK' : 'not measurable';

/** A row of a table of verdicts, with the lines of the story below it. */
export interface VerdictRow {
  readonly cells: readonly string[];
  readonly story: readonly string[];
}

/** Shows verdicts as a table for people. */
export function verdictLines(rows: readonly VerdictRow[]): string[] {
  const most = Math.max(0, ...rows.map(({ cells }) => cells.length));
  const widths = Array.from({ length: most }, (_, column) =>
    Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  return rows.flatMap(({ cells, story }) => [
    `  ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    ...story.map((line) => `            ${plainText(line)}`),
  ]);
}
