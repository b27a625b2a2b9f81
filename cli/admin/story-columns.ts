import { type Column, fieldText } from '../show/table.ts';
import { date, type Row } from './admin-resource.ts';

const of = (row: Row, member: string): Row => (row[member] ?? {}) as Row;
const words = (...parts: unknown[]): string =>
  parts
    .filter((part) => part !== null && part !== undefined && part !== '')
    .map(fieldText)
    .join(' ');

/** The subject of an entry: the operation of a command, the type of an event, the sentence of a change, the name of an action. */
function subjectOf(row: Row): string {
  if (row['kind'] === 'command') return words(of(row, 'command')['operation'], of(row, 'command')['subject']);
  if (row['kind'] === 'event') return words(of(row, 'event')['type']);
  if (row['kind'] === 'change') return words(of(row, 'change')['sentence']);
  if (row['kind'] === 'action') return words(of(row, 'action')['action']);
  const { reason, count } = of(row, 'connection');
  return words(reason, Number(count) > 1 ? `${fieldText(count)} times` : null);
}

/** The rest of an entry: the state and the error of a command, the author of a change, where a client came from. */
function restOf(row: Row): string {
  if (row['kind'] === 'command') {
    const { transactionId, status, error, warning } = of(row, 'command');
    const codes = [error, warning].map((one) => (one as Row | null)?.['code']);
    return words(transactionId, status, ...codes);
  }
  if (row['kind'] === 'event') return words(of(row, 'event')['status']);
  if (row['kind'] === 'change') {
    const { actor, address, status } = of(row, 'change');
    return words((actor as Row)['kind'], (actor as Row)['name'], address, status);
  }
  if (row['kind'] === 'action') {
    const { actionId, state, code } = of(row, 'action');
    return words(state, code, actionId);
  }
  const { detail, address, transport } = of(row, 'connection');
  return words(detail, transport, address);
}

export const STORY_COLUMNS: readonly Column<Row>[] = [
  date('TIME (UTC)', 'at'),
  { head: 'KIND', cell: ({ kind }) => fieldText(kind) },
  { head: 'WHAT', cell: subjectOf },
  { head: 'MORE', cell: restOf, flexible: true },
];
