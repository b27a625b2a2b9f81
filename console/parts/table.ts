import { type Child, span, table, tbody, td, th, thead, tr, type VNode } from '../base/elements.ts';

export interface Column<Row> {
  /** Empty for what can be done about a row. */
  name: string;
  /** A head that can be pressed, instead of the name. */
  head?: Child;
  cell(row: Row): Child;
  /** `lead`: names the row, on a phone too. `right`: numbers. `short`: is not broken. */
  kind?: 'lead' | 'right' | 'short';
  /** There is nothing to say in this row: left out on a phone. */
  isEmpty?(row: Row): boolean;
  sorted?: 'ascending' | 'descending';
}

interface Table<Row> {
  /** What it is a table of, for those who cannot see it. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string | number;
  isChosen?(row: Row): boolean;
}

/** A table that becomes a card for each row on a phone. */
export const rowsTable = <Row>({ label, columns, rows, keyOf, isChosen }: Table<Row>): VNode =>
  table(
    { class: 'table', 'aria-label': label },
    thead(
      null,
      tr(
        null,
        columns.map(({ name, head, kind = '', sorted }) =>
          th(
            { scope: 'col', class: kind, ...(sorted && { 'aria-sort': sorted }) },
            head ?? (name === '' ? span({ class: 'unseen' }, 'Actions') : name),
          ),
        ),
      ),
    ),
    tbody(
      null,
      rows.map((row) =>
        tr(
          { key: keyOf(row), class: isChosen?.(row) ? 'is-chosen' : '' },
          columns.map((column) => {
            const { name, kind = '', isEmpty } = column;
            return td(
              { class: `${kind}${isEmpty?.(row) ? ' is-empty' : ''}`, ...(name !== '' && { 'data-label': name }) },
              column.cell(row),
            );
          }),
        ),
      ),
    ),
  );
