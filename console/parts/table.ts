import { type Child, span, table, tbody, td, th, thead, tr, type VNode } from '../base/elements.ts';
import { hiddenOf } from '../base/hidden-columns.ts';

export interface Column<Row> {
  /** The name of the column; empty for a column of actions. */
  name: string;
  /** An element that is shown as the head of the column in place of its name, such as a button that sorts. */
  head?: Child;
  cell(row: Row): Child;
  /**
   * `lead`: the column that identifies the row, also on a phone. `right`: a column of numbers. `short`: a column whose
   * cells are never wrapped.
   */
  kind?: 'lead' | 'right' | 'short';
  /** True when the cell of a row is empty. On a phone it is then left out. */
  isEmpty?(row: Row): boolean;
  sorted?: 'ascending' | 'descending';
}

interface Table<Row> {
  /** The name of the table, for screen readers. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf(row: Row): string | number;
  isChosen?(row: Row): boolean;
  /** True for a list beside which `columnsButton` stands, with the same label. */
  mayHide?: boolean;
}

/** A table, without the columns that the user has hidden; on a phone each row becomes a card. */
export function rowsTable<Row>({ label, columns: all, rows, keyOf, isChosen, mayHide = false }: Table<Row>): VNode {
  const hidden = mayHide ? hiddenOf(label) : [];
  const columns = hidden.length === 0 ? all : all.filter(({ name, kind }) => kind === 'lead' || !hidden.includes(name));
  return table(
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
}
