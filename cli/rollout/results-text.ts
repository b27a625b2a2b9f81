import type { Operations } from '@lapel/client/operations';
import type { Text } from '../show/look.ts';
import { type Column, table, timeText } from '../show/table.ts';

export type Results = Operations['readRolloutResults']['answer'];
type Row = Results['results'][number];

const COLUMNS: readonly Column<Row>[] = [
  { head: 'FROM (UTC)', cell: ({ at }) => timeText(at) },
  { head: 'SUCCEEDED', cell: ({ succeeded }) => String(succeeded) },
  { head: 'FAILED', cell: ({ failed }) => String(failed) },
];

/** The results of a rollout over time, a row for each interval that has some. */
export const resultsText = ({ intervalSeconds, results }: Results): Text => {
  const rows = table(COLUMNS, results, 'There are no results yet.');
  return (look) => rows(look) + (results.length === 0 ? '' : `A row is about ${intervalSeconds} s.\n`);
};
